import { say } from '../sentence.ts'
import type { EventText } from './event-text.ts'

/** The events of providers. */
export const PROVIDER_EVENTS = {
  'provider.created': {
    icon: 'provider',
    tone: 'good',
    says: (event) => say`${event.by} connected the provider ${event.detail('provider')}`,
    details: '`provider`, `client_id`, `group_claim`, `groups_added`',
  },
  'provider.updated': {
    icon: 'provider',
    tone: 'plain',
    says: (event) => say`${event.by} changed the provider ${event.detail('provider')}`,
    details:
      '`provider`, `client_id`; `assertion_clients_added`, `assertion_clients_removed`, `assertion_apis_added`, `assertion_apis_removed`; `group_claim`, `groups_added`, `groups_removed`',
  },
  'provider.disabled': {
    icon: 'provider',
    tone: 'caution',
    says: (event) => say`${event.by} disabled the provider ${event.detail('provider')}`,
    details: '`provider`',
  },
  'provider.enabled': {
    icon: 'provider',
    tone: 'good',
    says: (event) => say`${event.by} enabled the provider ${event.detail('provider')}`,
    details: '`provider`',
  },
  'provider.deleted': {
    icon: 'provider',
    tone: 'caution',
    says: (event) => say`${event.by} deleted the provider ${event.detail('provider')}`,
    details: '`provider`',
  },
  'provider.failed': {
    icon: 'provider',
    tone: 'bad',
    says: (event) =>
      say`The provider ${event.detail('provider')} gave no acceptable answer${event.optional(': ', 'reason')}${event.times}`,
    when: 'No answer, or one that is not acceptable. Counted.',
    details: '`provider`, `reason`',
  },
} as const satisfies Readonly<Record<string, EventText>>
