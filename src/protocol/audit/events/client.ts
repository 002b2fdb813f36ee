import { say } from '../sentence.ts'
import type { EventText } from './event-text.ts'

/** The events of clients and of the initial access tokens that they register with. */
export const CLIENT_EVENTS = {
  'client.registered': {
    icon: 'client',
    tone: 'plain',
    says: (event) => say`${event.client} registered`,
    when: 'The same public client again is no event.',
    details: '`shared`: whether any caller can register it again; `initial_token`: the id of the token that it used',
  },
  'client.updated': {
    icon: 'client',
    tone: 'plain',
    says: (event) => say`${event.by} changed the metadata of ${event.client}`,
    details: '`identity_changed`: the name or a host of a redirect or logout URI changed',
  },
  'client.document-added': {
    icon: 'client',
    tone: 'plain',
    says: (event) => say`The metadata document of ${event.client} was fetched for the first time`,
    when: 'A metadata document was fetched for the first time.',
    details: '`url`: of the document, which is the `client_id`',
  },
  'client.document-changed': {
    icon: 'client',
    tone: 'plain',
    says: (event) => say`The metadata document of ${event.client} changed`,
    when: 'A metadata document has other content.',
    details:
      '`identity_changed`: as above; `tokens_revoked`: the client no longer authenticates, so its tokens were revoked',
  },
  'client.created': {
    icon: 'client',
    tone: 'good',
    says: (event) => say`${event.by} created ${event.client}`,
    details: '`chosen_id`: the operator chose the `client_id`; `source`: the imported system; `group_words_added`',
  },
  'client.adopted': {
    icon: 'client',
    tone: 'plain',
    says: (event) => say`${event.by} took over ${event.client}, which had registered itself`,
  },
  'client.rules-set': {
    icon: 'client',
    tone: 'plain',
    says: (event) => say`${event.by} set the rules of ${event.client}`,
    details: 'the rules; `group_words_added`, `group_words_removed`',
  },
  'client.registration-token-created': {
    icon: 'key',
    tone: 'plain',
    says: (event) => say`${event.by} replaced the registration access token of ${event.client}`,
  },
  'client.deleted': {
    icon: 'client',
    tone: 'caution',
    says: (event) => say`${event.by} deleted ${event.client}`,
    when: 'By the client, an administrator, or a server because it was idle (`reason`: `idle`). The removal of a client that never got a token is no event.',
  },
  'client.verified': {
    icon: 'client',
    tone: 'good',
    says: (event) => say`${event.by} verified ${event.client}`,
  },
  'client.unverified': {
    icon: 'client',
    tone: 'caution',
    says: (event) => say`${event.by} took the verification of ${event.client} back`,
  },
  'client.disabled': {
    icon: 'client',
    tone: 'caution',
    says: (event) => say`${event.by} disabled ${event.client}`,
  },
  'client.enabled': {
    icon: 'client',
    tone: 'good',
    says: (event) => say`${event.by} enabled ${event.client}`,
  },
  'client.secret-rotated': {
    icon: 'key',
    tone: 'plain',
    says: (event) => say`${event.by} rotated the secret of ${event.client}`,
  },
  'client.secret-set': {
    icon: 'key',
    tone: 'plain',
    says: (event) => say`${event.by} set the secret of ${event.client}`,
  },
  'client.secret-upgraded': {
    icon: 'key',
    tone: 'plain',
    says: (event) => say`The hash of the secret of ${event.client} was replaced at its first use`,
    details: '`format` of the hash that its first use replaced',
  },
  'client.scope-approved': {
    icon: 'client',
    tone: 'good',
    says: (event) => say`${event.by} approved ${event.optional('', 'scope') || 'a scope'} for ${event.client}`,
    details: '`scope`',
  },
  'client.tokens-revoked': {
    icon: 'token',
    tone: 'caution',
    says: (event) => say`${event.by} revoked all tokens of ${event.client}`,
  },
  'client.authentication-failed': {
    icon: 'lock',
    tone: 'bad',
    says: (event) => say`${event.client} sent a wrong secret or assertion${event.times}`,
    when: 'A wrong secret, or a wrong or used assertion. Unknown ids are no event. Counted.',
    details: 'origin',
  },
  'initial-token.created': {
    icon: 'key',
    tone: 'plain',
    says: (event) => say`${event.by} created the initial access token ${event.detail('initial_token')}`,
    details: '`initial_token`, `uses`, `trust_level`',
  },
  'initial-token.revoked': {
    icon: 'key',
    tone: 'caution',
    says: (event) => say`${event.by} revoked the initial access token ${event.detail('initial_token')}`,
    details: '`initial_token`',
  },
} as const satisfies Readonly<Record<string, EventText>>
