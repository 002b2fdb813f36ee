import type { ApiDocument } from '../../admin/api/document.ts'
import type { ClientDocument } from '../../admin/client/document.ts'
import { inOneLine } from '../../base/localized-text.ts'
import { DEFAULT_ID_TOKEN_ALGORITHM } from '../../protocol/openid/id-token.ts'
import { membersOf } from '../engine/fields.ts'
import { linkTo } from '../links.ts'
import type { Form, Members } from '../engine/form.ts'

/** What an administrator does with the clients that the operator manages. */

const FIRST = ['client_name', 'redirect_uris', 'scope']

const isOperators = (client: Members): boolean => client['source'] === 'operator'
const clientIn = (answers: Members): ClientDocument => answers['client'] as ClientDocument

export const CREATE_CLIENT: Form = {
  kind: 'create',
  task: 'client.create',
  fields: membersOf('client.create', [...FIRST, 'token_endpoint_auth_method', 'client_id']),
  first: [...FIRST, 'token_endpoint_auth_method', 'client_id'],
  preset: () => ({
    token_endpoint_auth_method: 'client_secret_basic',
    id_token_signed_response_alg: DEFAULT_ID_TOKEN_ALGORITHM,
    dpop_bound_access_tokens: false,
    require_pushed_authorization_requests: false,
    require_auth_time: false,
    rules: { profile: 'standard' },
  }),
  leadsTo: ({ client_id: client }) => linkTo('clients', String(client)),
}

const CHANGED = ['client_name', 'redirect_uris', 'scope', 'grant_types', 'post_logout_redirect_uris']

/** The declared scopes that only approved clients may have, beside those that the client has. */
export const APPROVE: Form = {
  kind: 'edit',
  task: 'client.approve-scopes',
  fields: ['scope'],
  filled: (answers) => ({ scope: clientIn(answers).approved_scope }),
  choices: (answers) => ({ scope: approvable(answers) }),
}

/** What a client is set to. */
export const SETTING_FORMS: readonly Form[] = [
  {
    kind: 'edit',
    task: 'client.update',
    fits: isOperators,
    fields: membersOf('client.update', CHANGED),
    first: CHANGED,
    filled: clientIn,
  },
  {
    kind: 'edit',
    task: 'client.set-rules',
    fits: isOperators,
    fields: membersOf('client.set-rules', []),
    filled: (answers) => clientIn(answers).rules,
  },
  {
    kind: 'edit',
    task: 'client.set-keys',
    fits: (client) => isOperators(client) && client['token_endpoint_auth_method'] !== 'none',
    fields: membersOf('client.set-keys', []),
    filled: clientIn,
  },
]

/** With what a client authenticates, and who manages it. */
export const CREDENTIAL_FORMS: readonly Form[] = [
  {
    kind: 'create',
    task: 'client.rotate-secret',
    fits: (client) => client['has_secret'] === true,
    fields: ['overlap_seconds'],
  },
  {
    kind: 'create',
    task: 'client.set-secret',
    fits: (client) => client['has_secret'] === true,
    fields: membersOf('client.set-secret', ['client_secret']),
  },
  {
    kind: 'change',
    task: 'client.adopt',
    fits: (client) => client['source'] === 'registration',
  },
  {
    kind: 'change',
    task: 'client.create-registration-token',
    fits: (client) => client['source'] === 'registration' && client['token_endpoint_auth_method'] !== 'none',
  },
]

/** The declared scopes that only approved clients may have, and those that the client has although no API declares them. */
function approvable(answers: Members): readonly (readonly [value: string, remark: string])[] {
  const { apis } = answers['apis'] as { readonly apis: readonly ApiDocument[] }
  const declared = apis.flatMap(({ scopes: all }) =>
    all.flatMap(({ name: scope, sentence, granted_to: to }) =>
      to === 'approved-clients' ? [[scope, inOneLine(sentence)] as const] : [],
    ),
  )
  const names = new Set(declared.map(([scope]) => scope))
  const others = clientIn(answers)
    .approved_scope.split(' ')
    .filter((scope) => scope !== '' && !names.has(scope))
  const all = [...declared, ...others.map((scope) => [scope, 'declared by no API, or for all clients'] as const)]
  return all.length === 0 ? [['', 'No API declares scopes that need an approval.']] : [...new Map(all)]
}
