import type { EventText } from './event-text.ts'

/** The events of clients and of the initial access tokens that they register with. */
export const CLIENT_EVENTS = {
  'client.registered': {
    when: 'A client registered. The same public client again is no event.',
    details: '`shared`: whether any caller can register it again; `initial_token`: the id of the token that it used',
  },
  'client.updated': {
    when: "The client's metadata changed (RFC 7592).",
    details: '`identity_changed`: the name or a host of a redirect or logout URI changed',
  },
  'client.document-added': {
    when: 'A metadata document was fetched for the first time, and its client stored.',
    details: '`url`: of the document, which is the `client_id`',
  },
  'client.document-changed': {
    when: 'A metadata document that was fetched again has other content.',
    details:
      '`identity_changed`: as above; `tokens_revoked`: the client no longer authenticates, so its tokens were revoked',
  },
  'client.created': {
    details: '`chosen_id`, if the operator chose the `client_id`; `source`, if an import made the client: the system',
  },
  'client.adopted': { when: 'An administrator took over a registered client.' },
  'client.rules-set': { details: 'the rules' },
  'client.registration-token-created': {
    when: 'An administrator replaced the registration access token of a client.',
  },
  'client.deleted': {
    when: 'The client or an administrator deleted the client, or a server a client that was idle (`GRANTOR_IDLE_CLIENT_LIFETIME`). The removal of a client that never got a token is no event. Details: `reason`: `idle`, if a server deleted it.',
  },
  'client.verified': {},
  'client.unverified': { when: 'The client is no longer verified.' },
  'client.disabled': { when: "The client's credentials and tokens stopped working." },
  'client.enabled': { when: 'The client works again.' },
  'client.secret-rotated': {},
  'client.secret-set': { when: 'An administrator gave the client a secret that it already has elsewhere.' },
  'client.secret-upgraded': { details: '`format` of the hash that its first use replaced' },
  'client.scope-approved': { details: '`scope`' },
  'client.tokens-revoked': {},
  'client.authentication-failed': {
    when: 'The client presented a wrong secret, or a wrong or used assertion. Unknown ids are no event. Counted.',
    details: 'origin',
  },
  'initial-token.created': {
    when: 'An administrator created an initial access token.',
    details: '`initial_token`, `uses`, `trust_level`',
  },
  'initial-token.revoked': { details: '`initial_token`' },
} as const satisfies Readonly<Record<string, EventText>>
