/** What docs/audit.md says about an event, in Markdown. Without `when`, the name says it all. */
export interface EventText {
  readonly when?: string
  /** The members of `details`. */
  readonly details?: string
}

/** The audit events of providers, and of the accounts that users have there; as AUDIT_EVENT_TEXTS in event-names.ts. */
export const PROVIDER_EVENT_TEXTS = {
  'user.provisioned': {
    when: 'A person without an account signed in at a provider, and got one.',
    details: '`provider`',
  },
  'identity.linked': {
    when: 'An identity at a provider was linked to the account of the user.',
    details:
      '`provider`; `reason`: `session` (the user added it), `link` (with a link of an operator; the password, and what `link.used` says, end), `proof` (the user signed in to the account first), `address` (the provider may link by address), `unused` (the account had never been used)',
  },
  'identity.unlinked': {
    when: 'The user removed an identity. The other sessions that started at its provider end.',
    details: '`provider`',
  },
  'provider.created': { when: 'A provider was created.', details: '`provider`, `client_id`: of this server there' },
  'provider.updated': {
    when: 'The settings or the secret of a provider were replaced.',
    details: '`provider`, `client_id`: of this server there',
  },
  'provider.disabled': { when: 'Users cannot sign in at the provider any more.', details: '`provider`' },
  'provider.enabled': { when: 'Users can sign in at the provider again.', details: '`provider`' },
  'provider.deleted': { when: 'A provider was deleted, with all identities.', details: '`provider`' },
  'provider.failed': {
    when: 'A provider did not answer, or its answer was not acceptable. Counted.',
    details: '`provider`, `reason`',
  },
} as const satisfies Readonly<Record<string, EventText>>
