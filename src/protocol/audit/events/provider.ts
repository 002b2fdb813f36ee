import type { EventText } from './event-text.ts'

/** The events of providers. */
export const PROVIDER_EVENTS = {
  'provider.created': { details: '`provider`, `client_id`' },
  'provider.updated': {
    details:
      '`provider`, `client_id`; `assertion_clients_added`, `assertion_clients_removed`, `assertion_apis_added`, `assertion_apis_removed`: what is listed for assertions now, and no longer',
  },
  'provider.disabled': { details: '`provider`' },
  'provider.enabled': { details: '`provider`' },
  'provider.deleted': { details: '`provider`' },
  'provider.failed': {
    when: 'A provider did not answer, or its answer was not acceptable. Counted.',
    details: '`provider`, `reason`',
  },
} as const satisfies Readonly<Record<string, EventText>>
