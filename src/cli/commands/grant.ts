import type { EndedGrantDocument, GrantDocument } from '../../admin/grant.ts'
import { formatTime, nameOf } from '../lib/columns.ts'
import { listVerb, taskVerb, type AddVerb } from '../lib/task-verb.ts'

/** The verbs of `grantor grant`. */
export const GRANT_VERBS: readonly AddVerb[] = [
  listVerb<GrantDocument>({
    task: 'grant.list',
    within: 'organization.list-grants',
    rows: 'grants',
    headings: ['ID', 'USER', 'CLIENT', 'ORGANIZATION', 'BY', 'SCOPE', 'ALLOWED (UTC)', 'EXPIRES (UTC)', 'ENDED (UTC)'],
    cells: (
      {
        grant_id,
        user_id,
        client_id,
        organization_id,
        grant_type,
        scope,
        created_at,
        expires_at,
        revoked_at,
        inactive_reason,
      },
      names,
    ) => [
      [
        grant_id,
        nameOf(names, user_id),
        nameOf(names, client_id),
        nameOf(names, organization_id),
        grant_type?.split(':').at(-1) ?? '–',
        scope === '' ? '–' : scope,
        formatTime(created_at),
        formatTime(expires_at),
        revoked_at === null ? (inactive_reason ?? '–') : formatTime(revoked_at),
      ],
    ],
    empty: 'There are no grants, or none that match.',
  }),
  taskVerb({ task: 'grant.show', within: 'organization.show-grant' }),
  taskVerb<EndedGrantDocument>({
    task: 'grant.revoke',
    within: 'organization.revoke-grant',
    adds: ({ client_id, revoked_at, was_revoked, other_grants }) => [
      `The client ${client_id} has to ask the user again.`,
      ...(was_revoked ? [`It was revoked before, at ${formatTime(revoked_at)} UTC.`] : []),
      ...(other_grants.length === 0
        ? []
        : [`The same user has other grants for this client, whose tokens keep working: ${other_grants.join(', ')}`]),
    ],
  }),
]
