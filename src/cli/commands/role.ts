import type { Command } from 'commander'
import type { LinkDocument } from '../../admin/user/link.ts'
import type { UserDocument } from '../../admin/user/tasks.ts'
import type { ListedRoleDocument, RoleDocument, SetRoleDocument } from '../../admin/user/role.ts'
import { formatTime, replaced } from '../lib/columns.ts'
import { addMemberOptions } from '../lib/member-options.ts'
import { forShell } from '../../base/shell.ts'
import { optionNameOf, subjectOf, withJson, withServer } from '../lib/options.ts'
import { requireTask, withTasks } from '../lib/perform-task.ts'
import { isAddress } from '../../admin/find-by-name.ts'
import { ORGANIZATION, RECIPIENT } from '../lib/subjects.ts'
import { linkLines } from './user.ts'
import {
  doneSentence,
  listVerb,
  SAME_AS_ARGUMENT,
  verbsOf,
  type AddVerb,
  type CommonOptions,
} from '../lib/task-verb.ts'
import type { Terminal } from '../lib/terminal.ts'

/** The verbs of `grantor role`. */
export const ROLE_VERBS: readonly AddVerb[] = verbsOf(
  ['role'],
  [
    Object.assign(addSet, { task: 'role.set' }),
    listVerb<ListedRoleDocument>({
      task: 'role.list',
      rows: 'roles',
      headings: ['USER', 'ACCESS', 'TO', 'TWO FACTORS', 'SET (UTC)', 'SIGNED IN (UTC)', 'ID'],
      cells: ({ user_id, access, organization_id, loopback_only, has_second_factor, set_at, signed_in_at }, names) => [
        [
          names[user_id] ?? '–',
          loopback_only ? `${access}, on loopback` : access,
          organization_id === null ? 'everything' : (names[organization_id] ?? organization_id),
          has_second_factor === null ? 'by application' : has_second_factor ? 'yes' : 'no',
          formatTime(set_at),
          formatTime(signed_in_at),
          user_id,
        ],
      ],
      empty: 'No user may use the console. Give a role: grantor role set <email> --access <read|write> --link',
    }),
  ],
)

/** What a role allows, without the user and the time. */
function rightsOf({ access, organization_id, loopback_only }: RoleDocument): object {
  return { access, organization_id, loopback_only }
}

interface SetOptions extends CommonOptions {
  readonly email?: string
  readonly organization?: string
  readonly link?: true
}

/** `grantor role set`. With `--link` it is all that a first administrator needs: the user, the role, and the way in. */
function addSet(noun: Command, terminal: Terminal): void {
  const task = requireTask('role.set')
  const { name, placeholder, meaning } = RECIPIENT
  const command = withServer(withJson(noun.command('set')))
    .description(task.summary)
    .argument(`[${name}]`, meaning)
    .option(`--${name} ${placeholder}`, SAME_AS_ARGUMENT)
    .option(
      `--${ORGANIZATION.name} ${ORGANIZATION.placeholder}`,
      'the one organization that the role is for, by id or name; by default the whole server',
    )
    .option(
      '--link',
      'create the user if there is none with this address, and print a link with which the user signs in',
    )
  const members = addMemberOptions(command, task, {
    rows: { confirmed: 'yes' },
    others: new Set(['user_id', 'organization_id']),
  })
  command.action(async () => {
    const options = command.opts<SetOptions>()
    const text = subjectOf(name, command.args[0], options.email)
    const { organization } = options
    const input = members.read(command)
    const done = await withTasks(terminal, options, options.link === true ? 'create' : 'refuse', async (performAs) => {
      const perform = performAs((member) => members.longNameOf(member) ?? optionNameOf(command, member))
      // Before a user is created.
      const place = organization === undefined ? {} : await ORGANIZATION.find(organization, perform, {})
      const isNew = options.link === true && isAddress(text) && (await hasNone(text))
      const { user_id } = isNew
        ? await perform<UserDocument>('user.create', { email: text })
        : await RECIPIENT.find(text, perform, {})
      const role = await perform<SetRoleDocument>(task.name, { ...input, ...place, user_id })
      return options.link === true
        ? { ...role, link: await perform<LinkDocument>('user.create-link', { user_id }) }
        : { ...role, link: undefined }

      async function hasNone(email: string): Promise<boolean> {
        const { users } = await perform<{ readonly users: readonly UserDocument[] }>('user.list', { email })
        return users.length === 0
      }
    })
    if (options.json) return terminal.printJson(done)
    terminal.print([
      doneSentence(task, { ...done, user_id: text }),
      ...(organization === undefined ? [] : [`The role is for the organization ${organization} alone.`]),
      ...replaced(done.previous && rightsOf(done.previous), rightsOf(done), terminal.paint),
      ...(done.console_url === null ? [] : [`The console: ${done.console_url}`]),
      ...(done.link_ended && done.link === undefined
        ? [
            `A link that was handed to the user before has ended. Create another one: grantor user create-link ${forShell(text)}`,
          ]
        : []),
      ...(done.link === undefined ? [] : ['', ...linkLines(done.link)]),
    ])
  })
}
