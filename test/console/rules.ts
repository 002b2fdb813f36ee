/** What a form asks before its task is performed. `fresh`: also for a sign-in of the last five minutes. `reads`: also with read access. */
export type FormRule = 'at-once' | 'asks' | 'fresh' | 'reads'

/** What a screen may show to whom, and do for whom. */
export interface ScreenRule {
  /** `organization`: a role for one organization has the screen too. */
  readonly extent: 'server' | 'organization'
  readonly forms: Readonly<Record<string, FormRule>>
  /** Forms that a role for one organization does not have, on a screen that it has. */
  readonly ofServer?: readonly string[]
}

const ONE_CLIENT = {
  'client.verify': 'at-once',
  'client.unverify': 'at-once',
  'client.disable': 'at-once',
  'client.enable': 'at-once',
  'client.revoke-tokens': 'fresh',
  'client.delete': 'fresh',
} as const

/** With the clients that the operator manages. */
const MANAGED_CLIENT = {
  'client.update': 'fresh',
  'client.set-rules': 'fresh',
  'client.rotate-secret': 'fresh',
  'client.set-secret': 'fresh',
  'client.set-keys': 'fresh',
  'client.adopt': 'fresh',
  'client.create-registration-token': 'fresh',
} as const

/** The screens of the console, said here once more by hand: the table of screens is what is evaluated. */
export const RULES: Readonly<Record<string, ScreenRule>> = {
  '/console': { extent: 'server', forms: {} },
  '/console/figures': { extent: 'server', forms: {} },
  '/console/found': { extent: 'server', forms: {} },
  '/console/organizations/{organization_id}/found': { extent: 'organization', forms: {} },
  '/console/clients': { extent: 'server', forms: { ...ONE_CLIENT, 'client.purge': 'fresh', 'client.create': 'fresh' } },
  '/console/clients/{client_id}': {
    extent: 'server',
    forms: { ...ONE_CLIENT, 'client.approve-scopes': 'fresh', ...MANAGED_CLIENT, 'grant.revoke': 'asks' },
  },
  '/console/clients/{client_id}/consent': { extent: 'server', forms: {} },
  '/console/users': {
    extent: 'server',
    forms: {
      'user.send-link': 'asks',
      'user.unlock': 'asks',
      'user.end-sessions': 'asks',
      'user.disable': 'asks',
      'user.enable': 'at-once',
      'user.create': 'asks',
      'user.delete': 'fresh',
    },
  },
  '/console/users/{user_id}': {
    extent: 'server',
    forms: {
      'user.create-link': 'fresh',
      'user.send-link': 'asks',
      'user.unlock': 'asks',
      'user.end-sessions': 'asks',
      'user.disable': 'asks',
      'user.enable': 'at-once',
      'user.set-email': 'fresh',
      'user.update': 'asks',
      'role.set': 'fresh',
      'role.remove': 'fresh',
      'session.end': 'asks',
      'grant.revoke': 'asks',
      'user.reset-second-factor': 'fresh',
      'user.remove-passkey': 'fresh',
      'user.revoke-tokens': 'fresh',
      'user.delete': 'fresh',
    },
  },
  '/console/users/{user_id}/activity': { extent: 'server', forms: {} },
  '/console/groups': { extent: 'server', forms: { 'group.create': 'asks' } },
  '/console/groups/{group_id}': {
    extent: 'server',
    forms: {
      'group.add-member': 'fresh',
      'group.update': 'fresh',
      'group.remove-member': 'fresh',
      'group.delete': 'fresh',
    },
  },
  '/console/organizations/{organization_id}/groups': {
    extent: 'organization',
    forms: { 'organization-group.create': 'asks' },
  },
  '/console/organizations/{organization_id}/groups/{group_id}': {
    extent: 'organization',
    forms: {
      'organization-group.add-member': 'fresh',
      'organization-group.update': 'fresh',
      'organization-group.remove-member': 'fresh',
      'organization-group.delete': 'fresh',
    },
  },
  '/console/access-rules': { extent: 'server', forms: { 'access-rule.create': 'asks' } },
  '/console/access-rules/{rule_id}': {
    extent: 'server',
    forms: { 'access-rule.update': 'fresh', 'access-rule.delete': 'fresh' },
  },
  '/console/organizations/{organization_id}/access-rules': {
    extent: 'organization',
    forms: { 'organization-access-rule.create': 'asks' },
  },
  '/console/organizations/{organization_id}/access-rules/{rule_id}': {
    extent: 'organization',
    forms: { 'organization-access-rule.update': 'fresh', 'organization-access-rule.delete': 'fresh' },
  },
  '/console/access': { extent: 'server', forms: {} },
  '/console/organizations/{organization_id}/access': { extent: 'organization', forms: {} },
  '/console/grants': { extent: 'server', forms: { 'grant.revoke': 'asks' } },
  '/console/grants/{grant_id}': { extent: 'server', forms: { 'grant.revoke': 'asks' } },
  '/console/organizations/{organization_id}/grants': {
    extent: 'organization',
    forms: { 'organization.revoke-grant': 'asks' },
  },
  '/console/organizations/{organization_id}/grants/{grant_id}': {
    extent: 'organization',
    forms: { 'organization.revoke-grant': 'asks' },
  },
  '/console/audit': { extent: 'server', forms: {} },
  '/console/apis': { extent: 'server', forms: { 'api.create': 'asks' } },
  '/console/apis/{resource}': {
    extent: 'server',
    forms: { 'api.update': 'fresh', 'api.create-credentials': 'fresh', 'api.delete': 'fresh' },
  },
  '/console/apis/{resource}/scopes': { extent: 'server', forms: { 'api.update': 'fresh' } },
  '/console/apis/{resource}/consent': { extent: 'server', forms: {} },
  '/console/providers': { extent: 'server', forms: { 'provider.create': 'fresh' } },
  '/console/providers/{provider_id}': {
    extent: 'server',
    forms: {
      'provider.test': 'reads',
      'provider.update': 'fresh',
      'provider.disable': 'asks',
      'provider.enable': 'fresh',
      'provider.delete': 'fresh',
    },
  },
  '/console/audit/verification': { extent: 'server', forms: { 'audit.verify': 'reads' } },
  '/console/roles': { extent: 'server', forms: { 'role.set': 'fresh', 'role.remove': 'fresh' } },
  '/console/credentials': {
    extent: 'server',
    forms: { 'admin.create': 'fresh', 'delegate.create-credentials': 'fresh', 'admin.revoke': 'fresh' },
  },
  '/console/keys': { extent: 'server', forms: { 'key.rotate': 'fresh', 'key.retire': 'fresh' } },
  '/console/token': { extent: 'server', forms: { 'token.inspect': 'reads', 'token.revoke': 'fresh' } },
  '/console/server': {
    extent: 'server',
    forms: { 'mail.test': 'asks', 'clock.confirm': 'asks', 'token.revoke-all': 'fresh' },
  },
  '/console/organizations': { extent: 'server', forms: { 'organization.create': 'asks' } },
  '/console/organizations/{organization_id}': {
    extent: 'server',
    forms: {
      'member.invite': 'asks',
      'member.add': 'asks',
      'organization.rename': 'asks',
      'organization.disable': 'asks',
      'organization.enable': 'at-once',
      'organization.revoke-tokens': 'fresh',
      'organization.delete': 'fresh',
    },
  },
  '/console/organizations/{organization_id}/members': {
    extent: 'organization',
    forms: {
      'member.invite': 'asks',
      'member.send-link': 'asks',
      'member.unlock': 'asks',
      'member.end-sessions': 'asks',
      'member.reset-second-factor': 'fresh',
      'member.disable': 'asks',
      'member.enable': 'at-once',
      'member.remove': 'fresh',
      'member.add': 'asks',
    },
    ofServer: ['member.add'],
  },
  '/console/organizations/{organization_id}/installations': {
    extent: 'organization',
    forms: {
      'installation.disable': 'asks',
      'installation.enable': 'at-once',
      'installation.remove': 'fresh',
      'installation.install': 'fresh',
    },
  },
  '/console/organizations/{organization_id}/installations/new': {
    extent: 'server',
    forms: { 'installation.install': 'fresh' },
  },
  '/console/domains': {
    extent: 'server',
    forms: { 'domain.trust': 'at-once', 'domain.block': 'at-once', 'domain.forget': 'fresh' },
  },
  '/console/domains/new': { extent: 'server', forms: { 'domain.trust': 'asks', 'domain.block': 'asks' } },
  '/console/initial-tokens': {
    extent: 'server',
    forms: { 'initial-token.revoke': 'fresh', 'initial-token.create': 'fresh' },
  },
}
