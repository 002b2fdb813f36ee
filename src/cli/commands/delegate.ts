import type { AdminCredentialDocument } from '../../admin/admin.ts'
import { formatTime } from '../lib/columns.ts'
import { taskVerb, type AddVerb } from '../lib/task-verb.ts'

/** The verbs of `grantor delegate`. */
export const DELEGATE_VERBS: readonly AddVerb[] = [
  taskVerb<AdminCredentialDocument & { readonly token: string }>({
    task: 'delegate.create-credentials',
    say: ({ token, expires_at, credential_id }) => [
      'The token for your application, which is not shown again:',
      `  ${token}`,
      `It can answer sign-ins, and nothing else, until ${formatTime(expires_at)} UTC. The previous token no longer works.`,
      `To revoke it: grantor admin revoke ${credential_id}`,
    ],
  }),
]
