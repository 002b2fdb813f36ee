import { say } from '../sentence.ts'
import type { EventText } from './event-text.ts'

/** The events of organizations, their members and their installations. */
export const ORGANIZATION_EVENTS = {
  'organization.created': {
    icon: 'organization',
    tone: 'good',
    says: (event) => say`${event.by} created ${event.organization}`,
  },
  'organization.renamed': {
    icon: 'organization',
    tone: 'plain',
    says: (event) => say`${event.by} renamed ${event.organization}`,
  },
  'organization.disabled': {
    icon: 'organization',
    tone: 'caution',
    says: (event) => say`${event.by} disabled ${event.organization}`,
  },
  'organization.enabled': {
    icon: 'organization',
    tone: 'good',
    says: (event) => say`${event.by} enabled ${event.organization}`,
  },
  'organization.tokens-revoked': {
    icon: 'token',
    tone: 'caution',
    says: (event) => say`${event.by} revoked all tokens for ${event.organization}`,
  },
  'organization.deleted': {
    icon: 'organization',
    tone: 'caution',
    says: (event) => say`${event.by} deleted ${event.organization}`,
  },
  'member.added': {
    icon: 'organization',
    tone: 'good',
    says: (event) =>
      say`${event.by} ${event.detail('invited') === 'true' ? 'invited' : 'added'} ${event.user} to ${event.organization}`,
    details: '`invited`: by an invitation',
  },
  'member.disabled': {
    icon: 'organization',
    tone: 'caution',
    says: (event) => say`${event.by} disabled the membership of ${event.user} in ${event.organization}`,
  },
  'member.enabled': {
    icon: 'organization',
    tone: 'good',
    says: (event) => say`${event.by} enabled the membership of ${event.user} in ${event.organization}`,
  },
  'member.removed': {
    icon: 'organization',
    tone: 'caution',
    says: (event) => say`${event.by} removed ${event.user} from ${event.organization}`,
  },
  'access-rule.created': {
    icon: 'lock',
    tone: 'caution',
    says: (event) => say`${event.by} created the access rule ${event.detail('rule')}`,
    details: '`rule`, `state`',
  },
  'access-rule.updated': {
    icon: 'lock',
    tone: 'caution',
    says: (event) => say`${event.by} changed the access rule ${event.detail('rule')}`,
    details: '`rule`, `state`; `changed`: the parts of the rule that are others',
  },
  'access-rule.deleted': {
    icon: 'lock',
    tone: 'caution',
    says: (event) => say`${event.by} deleted the access rule ${event.detail('rule')}`,
    details: '`rule`',
  },
  'group.created': {
    icon: 'organization',
    tone: 'good',
    says: (event) => say`${event.by} created the group ${event.detail('group')}`,
    details: '`group`, `protected`',
  },
  'group.updated': {
    icon: 'organization',
    tone: 'plain',
    says: (event) => say`${event.by} changed the group ${event.detail('group')}`,
    details: '`group`, `renamed`, `protected`: what changed',
  },
  'group.deleted': {
    icon: 'organization',
    tone: 'caution',
    says: (event) => say`${event.by} deleted the group ${event.detail('group')}`,
    details: '`group`',
  },
  'group.member-added': {
    icon: 'organization',
    tone: 'good',
    says: (event) => say`${event.by} added ${event.user} to the group ${event.detail('group')}`,
    details: '`group`, `source`, `until`',
  },
  'group.member-changed': {
    icon: 'organization',
    tone: 'plain',
    says: (event) => say`${event.by} changed how long ${event.user} is in the group ${event.detail('group')}`,
    details: '`group`, `source`, `until`',
  },
  'group.member-removed': {
    icon: 'organization',
    tone: 'caution',
    says: (event) => say`${event.by} removed ${event.user} from the group ${event.detail('group')}`,
    details: '`group`, `source`',
  },
  'group.member-left-out': {
    icon: 'organization',
    tone: 'caution',
    says: (event) =>
      say`${event.user} was left out of the protected group ${event.detail('group')}, because an administrator may be able to sign in to the account`,
    details: '`group`, `source`',
  },
  'installation.added': {
    icon: 'client',
    tone: 'good',
    says: (event) => say`${event.by} installed ${event.client} for ${event.organization}`,
    details: '`scope`, `acts_for_members`',
  },
  'installation.replaced': {
    icon: 'client',
    tone: 'plain',
    says: (event) => say`${event.by} changed what ${event.client} may do for ${event.organization}`,
    details: '`scope`, `acts_for_members`',
  },
  'installation.disabled': {
    icon: 'client',
    tone: 'caution',
    says: (event) => say`${event.by} disabled the installation of ${event.client} for ${event.organization}`,
  },
  'installation.enabled': {
    icon: 'client',
    tone: 'good',
    says: (event) => say`${event.by} enabled the installation of ${event.client} for ${event.organization}`,
  },
  'installation.removed': {
    icon: 'client',
    tone: 'caution',
    says: (event) => say`${event.by} removed ${event.client} from ${event.organization}`,
  },
} as const satisfies Readonly<Record<string, EventText>>
