import type { ClientDocument } from '../../admin/client/document.ts'
import { DEFAULT_ID_TOKEN_ALGORITHM } from '../../protocol/openid/id-token.ts'
import { membersOf } from '../engine/fields.ts'
import { linkTo } from '../links.ts'
import type { Form, Members } from '../engine/form.ts'

/** What an administrator does with the clients that the operator manages. */

const FIRST = ['client_name', 'redirect_uris', 'scope']
const OF_SECRET = 'Give it to the client together with its client_id. The server keeps only a hash.'

const isOperators = (client: Members): boolean => client['source'] === 'operator'
const clientIn = (answers: Members): ClientDocument => answers['client'] as ClientDocument

export const CREATE_CLIENT: Form = {
  kind: 'create',
  task: 'client.create',
  says: {
    label: 'Create a client',
    done: 'Client created',
    isRecent: true,
    secret: { member: 'client_secret', beside: ['client_id'], use: () => OF_SECRET },
  },
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
    says: {
      label: 'Change',
      done: 'Changed',
      warning: 'Users are asked for consent again if the name or the host of a redirect URI changes.',
      isRecent: true,
    },
    fits: isOperators,
    fields: membersOf('client.update', CHANGED),
    first: CHANGED,
    filled: clientIn,
  },
  {
    kind: 'edit',
    task: 'client.set-rules',
    says: { label: 'Set the rules', done: 'Rules changed', isRecent: true },
    fits: isOperators,
    fields: membersOf('client.set-rules', []),
    filled: (answers) => clientIn(answers).rules,
  },
  {
    kind: 'create',
    task: 'client.rotate-secret',
    says: {
      label: 'Rotate the secret',
      done: 'Secret created',
      isRecent: true,
      secret: { member: 'client_secret', beside: ['client_id', 'previous_secret_until'], use: () => OF_SECRET },
    },
    fits: (client) => client['has_secret'] === true,
    fields: ['overlap_seconds'],
  },
  {
    kind: 'create',
    task: 'client.set-secret',
    says: { label: 'Set the secret', done: 'Secret set', isRecent: true },
    fits: (client) => client['has_secret'] === true,
    fields: membersOf('client.set-secret', ['client_secret']),
  },
  {
    kind: 'edit',
    task: 'client.set-keys',
    says: {
      label: 'Set the keys',
      done: 'Keys changed',
      warning:
        'Give the keys or their address, not both. From then on the client authenticates with them, and a secret that it has stops working.',
      isRecent: true,
    },
    fits: (client) => isOperators(client) && client['token_endpoint_auth_method'] !== 'none',
    fields: membersOf('client.set-keys', []),
    filled: clientIn,
  },
  {
    kind: 'change',
    task: 'client.adopt',
    says: {
      label: 'Adopt',
      done: 'Adopted',
      warning:
        'You manage the client from then on, and it no longer manages itself. It counts as verified, and its id, secret and tokens stay. That cannot be undone.',
      isRecent: true,
    },
    fits: (client) => client['source'] === 'registration',
  },
  {
    kind: 'change',
    task: 'client.create-registration-token',
    says: {
      label: 'Create a registration token',
      done: 'Registration token created',
      warning: 'The client changes and deletes its registration with the token. The one that it has stops working.',
      isRecent: true,
      secret: {
        member: 'registration_access_token',
        beside: ['client_id'],
        use: () => 'Give it to the client, which manages its registration with it.',
      },
    },
    fits: (client) => client['source'] === 'registration' && client['token_endpoint_auth_method'] !== 'none',
  },
]
