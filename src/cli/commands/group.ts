import type { GroupMemberDocument, ListedGroupDocument } from '../../admin/group/tasks.ts'
import { formatTime } from '../lib/columns.ts'
import { GROUP, NEW_MEMBER, USER_OR_MEMBER } from '../lib/subjects.ts'
import { listVerb, taskVerb, verbsOf, type AddVerb } from '../lib/task-verb.ts'

function untilOf({ expires_at: end }: { readonly expires_at: string | null }): string {
  return end === null ? '–' : formatTime(end)
}

/** The verbs of `grantor group`. */
export const GROUP_VERBS: readonly AddVerb[] = verbsOf(
  ['group'],
  [
    listVerb<ListedGroupDocument>({
      task: 'group.list',
      within: 'organization-group.list',
      rows: 'groups',
      headings: ['ID', 'NAME', 'PROTECTED', 'CREATED (UTC)', 'SAID BY', 'UNTIL (UTC)'],
      cells: ({ group_id, name, protected: isProtected, created_at, sources }) => {
        const own = [group_id, name, isProtected ? 'yes' : 'no', formatTime(created_at)]
        return sources === null ? [own] : sources.map((said) => [...own, said.source, untilOf(said)])
      },
      empty: 'There are no groups, or none that match. Create one: grantor group create <id>',
    }),
    taskVerb({ task: 'group.create', within: 'organization-group.create', subjects: [GROUP] }),
    taskVerb({ task: 'group.show', within: 'organization-group.show' }),
    taskVerb({ task: 'group.update', within: 'organization-group.update', members: { confirmed: 'yes' } }),
    taskVerb({ task: 'group.delete', within: 'organization-group.delete' }),
    listVerb<GroupMemberDocument>({
      task: 'group.list-members',
      verb: 'members',
      within: 'organization-group.list-members',
      rows: 'members',
      headings: ['EMAIL', 'NAME', 'SAID BY', 'UNTIL (UTC)', 'COUNTS', 'SINCE (UTC)', 'ID'],
      cells: (member) => [
        [
          member.email ?? '–',
          member.name ?? '–',
          member.source,
          untilOf(member),
          member.counts ? 'yes' : 'no',
          formatTime(member.created_at),
          member.user_id,
        ],
      ],
      empty: 'The group has no members.',
    }),
    taskVerb<GroupMemberDocument>({
      task: 'group.add-member',
      within: 'organization-group.add-member',
      subjects: [GROUP, NEW_MEMBER],
      members: { confirmed: 'yes' },
    }),
    taskVerb({
      task: 'group.remove-member',
      within: 'organization-group.remove-member',
      subjects: [GROUP, USER_OR_MEMBER],
    }),
  ],
)
