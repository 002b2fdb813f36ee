import type { ClientDocument } from '../../admin/client/document.ts'
import { DEFAULT_ID_TOKEN_ALGORITHM } from '../../protocol/openid/id-token.ts'
import { membersOf } from '../engine/fields.ts'
import { linkTo } from '../links.ts'
import type { Members, ScreenForm } from '../engine/form.ts'

/** What an administrator does with the clients that the operator manages. */

const FIRST = ['client_name', 'redirect_uris', 'scope']
const OF_SECRET = 'Give it to the client together with its client_id. The server keeps only a hash.'

const isOperators = (client: Members): boolean => client['source'] === 'operator'
const clientIn = (answers: Members): ClientDocument => answers['client'] as ClientDocument

export const CREATE_CLIENT: ScreenForm = {
  task: 'client.create',
  label: 'Create a client',
  done: 'Client created',
  fields: membersOf('client.create', [...FIRST, 'token_endpoint_auth_method', 'client_id']),
  atFirst: [...FIRST, 'token_endpoint_auth_method', 'client_id'],
  preset: () => ({
    token_endpoint_auth_method: 'client_secret_basic',
    id_token_signed_response_alg: DEFAULT_ID_TOKEN_ALGORITHM,
    dpop_bound_access_tokens: false,
    require_pushed_authorization_requests: false,
    require_auth_time: false,
    rules: { profile: 'standard' },
  }),
  isRecent: true,
  secret: 'client_secret',
  beside: ['client_id'],
  secretUse: () => OF_SECRET,
  leadsTo: ({ client_id: client }) => linkTo('clients', String(client)),
}

const CHANGED = ['client_name', 'redirect_uris', 'scope', 'grant_types', 'post_logout_redirect_uris']

/** What the page of a client offers beside its state. */
export const MANAGING_FORMS: readonly ScreenForm[] = [
  {
    task: 'client.update',
    label: 'Change',
    done: 'Changed',
    fields: membersOf('client.update', CHANGED),
    atFirst: CHANGED,
    isRecent: true,
    fits: isOperators,
    filled: clientIn,
    warning: 'Users are asked for consent again if the name or the host of a redirect URI changes.',
  },
  {
    task: 'client.set-rules',
    label: 'Set the rules',
    done: 'Rules changed',
    fields: membersOf('client.set-rules', []),
    isRecent: true,
    fits: isOperators,
    filled: (answers) => clientIn(answers).rules,
  },
  {
    task: 'client.rotate-secret',
    label: 'Rotate the secret',
    done: 'Secret created',
    fields: ['overlap_seconds'],
    isRecent: true,
    secret: 'client_secret',
    beside: ['client_id', 'previous_secret_until'],
    secretUse: () => OF_SECRET,
    fits: (client) => client['has_secret'] === true,
  },
  {
    task: 'client.set-secret',
    label: 'Set the secret',
    done: 'Secret set',
    fields: membersOf('client.set-secret', ['client_secret']),
    isRecent: true,
    fits: (client) => client['has_secret'] === true,
  },
  {
    task: 'client.set-keys',
    label: 'Set the keys',
    done: 'Keys changed',
    fields: membersOf('client.set-keys', []),
    isRecent: true,
    fits: (client) => isOperators(client) && client['token_endpoint_auth_method'] !== 'none',
    filled: clientIn,
    warning:
      'Give the keys or their address, not both. From then on the client authenticates with them, and a secret that it has stops working.',
  },
  {
    task: 'client.adopt',
    label: 'Adopt',
    done: 'Adopted',
    isRecent: true,
    fits: (client) => client['source'] === 'registration',
    warning:
      'You manage the client from then on, and it no longer manages itself. It counts as verified, and its id, secret and tokens stay. That cannot be undone.',
  },
  {
    task: 'client.create-registration-token',
    label: 'Create a registration token',
    done: 'Registration token created',
    isRecent: true,
    secret: 'registration_access_token',
    beside: ['client_id'],
    secretUse: () => 'Give it to the client, which manages its registration with it.',
    fits: (client) => client['source'] === 'registration' && client['token_endpoint_auth_method'] !== 'none',
    warning: 'The client changes and deletes its registration with the token. The one that it has stops working.',
  },
]
