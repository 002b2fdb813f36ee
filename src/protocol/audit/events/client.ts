import type { EventText } from './event-text.ts'

/** The events of clients and of the initial access tokens that they register with. */
export const CLIENT_EVENTS = {
  'client.registered': {
    when: 'A client registered. Registering a public client again with the same metadata returns the existing client and is no event.',
    details:
      '`shared`: true for a public client that any caller can register again; `initial_token`: the id of the initial access token that it registered with',
  },
  'client.updated': {
    when: "The client's metadata changed (RFC 7592).",
    details:
      '`identity_changed`: the name or a host of a redirect or logout URI changed, so that users may not recognise the client',
  },
  'client.document-added': {
    when: 'A metadata document was fetched for the first time, and its client stored.',
    details: '`url`: of the document, which is the `client_id`',
  },
  'client.document-changed': {
    when: 'A metadata document that was fetched again has other content.',
    details:
      '`identity_changed`: as for `client.updated`; `tokens_revoked`: the client no longer authenticates, so its tokens were revoked',
  },
  'client.created': { when: 'An administrator created the client.' },
  'client.adopted': { when: 'An administrator made a registered client one of the operator.' },
  'client.rules-set': { when: 'The rules of a client were replaced.', details: 'the rules' },
  'client.registration-token-created': {
    when: 'An administrator replaced the registration access token of a client.',
  },
  'client.deleted': {
    when: 'The client or an administrator deleted the client. Sweeps of clients that never got a token are no event.',
  },
  'client.verified': { when: 'An administrator marked the client as verified.' },
  'client.unverified': { when: 'The client is no longer verified.' },
  'client.disabled': { when: "The client's credentials and tokens stopped working." },
  'client.enabled': { when: 'The client works again.' },
  'client.secret-rotated': { when: 'The client got a new secret.' },
  'client.scope-approved': { when: 'The scopes that are approved for the client were replaced.', details: '`scope`' },
  'client.tokens-revoked': { when: 'All tokens of the client were revoked.' },
  'client.authentication-failed': {
    when: 'The client presented a wrong secret, or an assertion that its keys do not verify or that was used before. Unknown client ids are no event. Counted.',
  },
  'initial-token.created': {
    when: 'An administrator created an initial access token.',
    details: '`initial_token`, `uses`, `trust_level`',
  },
  'initial-token.revoked': { details: '`initial_token`' },
} as const satisfies Readonly<Record<string, EventText>>
