import type { EventText } from './event-text.ts'

/** The events of organizations, their members and their installations. */
export const ORGANIZATION_EVENTS = {
  'organization.created': {},
  'organization.renamed': {},
  'organization.disabled': {},
  'organization.enabled': { when: 'Tokens from before stay invalid.' },
  'organization.tokens-revoked': {},
  'organization.deleted': {},
  'member.added': {},
  'member.disabled': {},
  'member.enabled': { when: 'Tokens from before stay invalid.' },
  'member.removed': {},
  'installation.added': { details: '`scope`, `acts_for_members`' },
  'installation.replaced': { details: '`scope`, `acts_for_members`' },
  'installation.disabled': {},
  'installation.enabled': { when: 'Tokens from before stay invalid.' },
  'installation.removed': {},
} as const satisfies Readonly<Record<string, EventText>>
