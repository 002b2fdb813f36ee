import type { ClientDocument } from '../../admin/client/document.ts'
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

/** What the page of a client offers beside its state. */
export const MANAGING_FORMS: readonly Form[] = [
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
    kind: 'edit',
    task: 'client.set-keys',
    fits: (client) => isOperators(client) && client['token_endpoint_auth_method'] !== 'none',
    fields: membersOf('client.set-keys', []),
    filled: clientIn,
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
