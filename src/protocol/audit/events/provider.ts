import type { EventText } from './event-text.ts'

/** The events of providers. */
export const PROVIDER_EVENTS = {
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
