import { say, type Sentence, type EventWords } from '../sentence.ts'
import type { EventText } from './event-text.ts'

/** The events of users: their sessions, identities, and what they allowed. */
export const USER_EVENTS = {
  'user.created': {
    icon: 'user',
    tone: 'good',
    says: (event) => say`${event.by} created ${event.user}`,
  },
  'user.imported': {
    icon: 'user',
    tone: 'plain',
    says: (event) => say`${event.user} was imported${event.optional(', as an account of ', 'source')}`,
    details: '`source`: the system; `groups_added`',
  },
  'user.import-updated': {
    icon: 'user',
    tone: 'plain',
    says: (event) => say`${event.user} was changed by an import${event.optional(' of accounts of ', 'source')}`,
    when: 'An import with `--update` changed an unused account. Earlier grants end.',
    details: '`source`: the system; `groups_added`',
  },
  'user.password-changed': {
    icon: 'key',
    tone: 'plain',
    says: (event) => say`${event.by} changed the password of ${event.user}`,
  },
  'user.password-upgraded': {
    icon: 'key',
    tone: 'plain',
    says: (event) => say`The hash of the password of ${event.user} was replaced at a sign-in`,
    when: 'A sign-in replaced the hash of another system. Nothing ends.',
    details: '`format` of the previous one',
  },
  'user.email-changed': {
    icon: 'user',
    tone: 'plain',
    says: (event) => say`${event.by} changed the address of ${event.user}`,
    details: '`verified`',
  },
  'user.renamed': {
    icon: 'user',
    tone: 'plain',
    says: (event) => say`${event.by} changed the name of ${event.user}`,
  },
  'user.updated': {
    icon: 'user',
    tone: 'plain',
    says: (event) => say`${event.by} changed the profile of ${event.user}`,
  },
  'user.disabled': {
    icon: 'user',
    tone: 'caution',
    says: (event) => say`${event.by} disabled ${event.user}`,
  },
  'user.enabled': {
    icon: 'user',
    tone: 'good',
    says: (event) => say`${event.by} enabled ${event.user}`,
  },
  'user.deleted': {
    icon: 'user',
    tone: 'caution',
    says: (event) => say`${event.by} deleted ${event.user}`,
  },
  'user.tokens-revoked': {
    icon: 'token',
    tone: 'caution',
    says: (event) => say`${event.by} revoked all sessions and tokens of ${event.user}`,
  },
  'user.unlocked': {
    icon: 'user',
    tone: 'good',
    says: (event) => say`${event.by} unlocked ${event.user}`,
    when: 'A lock after wrong passwords or codes ended.',
  },
  'user.provisioned': {
    icon: 'user',
    tone: 'good',
    says: (event) => say`${event.user} got an account at the first sign-in${event.optional(' with ', 'provider')}`,
    when: 'A sign-in at a provider made an account.',
    details: '`provider`',
  },
  'session.started': {
    icon: 'user',
    tone: 'good',
    says: (event) => say`${event.user} signed in with ${methodsOf(event)}`,
    details:
      '`methods`: how the user authenticated (RFC 8176; `recovery`: with a recovery code), and `provider`; origin',
  },
  'session.ended': {
    icon: 'user',
    tone: 'plain',
    says: (event) =>
      event.isOwn ? say`${event.user} signed out` : say`${event.by} signed ${event.user} out of ${browsersOf(event)}`,
    when: 'With the grants of the apps that signed the user in there.',
    details: '`session`: its id; or `sessions`: how many',
  },
  'sign-in.failed': {
    icon: 'lock',
    tone: 'caution',
    says: (event) => say`${failure(event)}`,
    when: 'A wrong password or an unknown account (no `user_id`). Counted.',
    details: '`reason`: `wrong-credentials` or `disabled`; `account`: a keyed digest of the typed address; origin',
  },
  'second-factor.enabled': {
    icon: 'key',
    tone: 'good',
    says: (event) => say`${event.user} set up an authenticator app`,
    when: 'An authenticator app was set up. The other sessions end.',
    details: '`reason`: `session` (on the account page) or `sign-in` (which needs two factors)',
  },
  'second-factor.disabled': {
    icon: 'key',
    tone: 'caution',
    says: (event) => say`${event.by} removed the authenticator app of ${event.user}`,
    when: 'The app and the recovery codes were removed.',
    details: '`by`: `user`, or `operator`, which ends the sessions',
  },
  'passkey.added': {
    icon: 'key',
    tone: 'good',
    says: (event) => say`${event.user} added a passkey`,
    details:
      '`passkey`: its id; `reason`: `session` (on the account page), `link` (with a link; ends the password, the sessions and the grants too) or `sign-in` (because every sign-in needs two factors)',
  },
  'passkey.removed': {
    icon: 'key',
    tone: 'caution',
    says: (event) => say`${event.by} removed a passkey of ${event.user}`,
    when: 'The other sessions of the user end.',
    details: '`passkey`: its id; `by`: `user` or `operator`',
  },
  'passkey.counter-back': {
    icon: 'key',
    tone: 'bad',
    says: (event) =>
      say`The counter of a passkey of ${event.user} went back: another device may have a copy of the key`,
    when: 'The signature counter did not rise: a copy of the key may exist. The sign-in went on.',
    details: '`passkey`: its id; `eligible`, if it changed',
  },
  'passkey.backup-changed': {
    icon: 'key',
    tone: 'plain',
    says: (event) => say`A passkey of ${event.user} can be copied to other devices now, or no longer`,
    when: 'The passkey can be copied to other devices now, or no longer.',
    details: '`passkey`: its id; `eligible`: whether it can',
  },
  'user.password-removed': {
    icon: 'key',
    tone: 'caution',
    says: (event) => say`${event.user} removed the password`,
    when: 'The other sessions end.',
  },
  'second-factor.refused': {
    icon: 'lock',
    tone: 'caution',
    says: (event) =>
      say`${event.user} sent ${event.count === 1 ? 'a wrong code' : say`${event.count} wrong codes`} after a right password`,
    when: 'The second step was wrong, the first one right. Counted.',
    details: '`reason`: `second-step-wrong`, `second-step-used` or `second-step-locked`; origin',
  },
  'recovery-codes.replaced': {
    icon: 'key',
    tone: 'plain',
    says: (event) => say`${event.user} made new recovery codes`,
    when: 'Those from before are void.',
  },
  'recovery-code.used': {
    icon: 'key',
    tone: 'caution',
    says: (event) => say`${event.user} used a recovery code; ${event.detail('left')} are left`,
    when: 'As the second step.',
    details: '`left`: how many remain',
  },
  'mail.undelivered': {
    icon: 'mail',
    tone: 'bad',
    says: (event) => say`A mail to ${event.user} could not be sent${event.optional(': ', 'reason')}`,
    when: 'No attempt follows.',
    details: '`purpose`: `invitation`, `reset`, `code` or `notice`; `reason` ([mail.md](mail.md))',
  },
  'logout.delivered': {
    icon: 'client',
    tone: 'plain',
    says: (event) => say`${event.client} was notified that a session of ${event.user} ended`,
    when: 'A client was notified that a session ended.',
  },
  'logout.undelivered': {
    icon: 'client',
    tone: 'caution',
    says: (event) => say`${event.client} could not be notified that a session of ${event.user} ended`,
    when: 'It could not be notified, and no attempt follows.',
    details: '`reason`',
  },
  'link.created': {
    icon: 'mail',
    tone: 'plain',
    says: (event) =>
      event.isOwn
        ? say`A person asked for a link, which was mailed to ${event.user}`
        : say`${event.by} ${event.detail('sent') === 'true' ? 'mailed a link to' : 'created a link for'} ${event.user}`,
    when: 'By an administrator or the user.',
    details: '`purpose`: `invitation` or `reset`; `sent`: whether it was mailed',
  },
  'link.used': {
    icon: 'key',
    tone: 'plain',
    says: (event) => say`${event.user} set a password with a link`,
    when: 'Earlier sessions and grants end, and the identities and passkeys that were not kept.',
    details: 'origin',
  },
  'identity.linked': {
    icon: 'provider',
    tone: 'good',
    says: (event) => say`${event.user} connected an account at ${event.detail('provider')}`,
    when: 'An account at a provider was connected.',
    details:
      '`provider`; `reason`: `session` (the user added it), `link` (ends the password too), `proof` (after a sign-in), `address` (`--link`), `unused`',
  },
  'identity.unlinked': {
    icon: 'provider',
    tone: 'caution',
    says: (event) => say`${event.user} removed an account at ${event.detail('provider')}`,
    when: 'By the user. The other sessions that started at its provider end, and the grants of its assertions.',
    details: '`provider`',
  },
  'interaction.answered': {
    icon: 'user',
    tone: 'plain',
    says: (event) => say`The application answered for a sign-in: ${event.detail('answer')}`,
    when: 'Your application answered. `session.started` follows if it signed the user in.',
    details: '`interaction`: its id; `answer`: `allow`, `ask`, or the error for the client',
  },
  'app.removed': {
    icon: 'client',
    tone: 'caution',
    says: (event) => say`${event.user} took back what ${event.client} may do`,
    when: 'The user took back what the client may do.',
    details: '`grants`: how many were revoked',
  },
} as const satisfies Readonly<Record<string, EventText>>

/** `session` names the one that ended. */
function browsersOf({ detail }: EventWords): string {
  const count = detail('sessions') || '1'
  return count === '1' ? 'one browser' : `${count} browsers`
}

const METHODS: Readonly<Record<string, string>> = {
  pwd: 'a password',
  otp: 'a code of the app',
  pop: 'a passkey',
  recovery: 'a recovery code',
  fed: 'an account elsewhere',
}

/** `a password and a code of the app`; the name of the provider, if there is one. */
function methodsOf({ detail }: EventWords): string {
  const named = detail('methods')
    .split(' ')
    .flatMap((method) =>
      method === 'fed' && detail('provider') !== '' ? [detail('provider')] : (METHODS[method] ?? []),
    )
  return named.length === 0 ? 'what the application knows' : named.join(' and ')
}

/** Repetitions of an event that names no account are those of several. */
function failure({ client, count, detail, times, user }: EventWords): Sentence {
  const to = typeof client === 'string' ? [] : say`, to ${client}`
  const into = typeof client === 'string' ? [] : say` to ${client}`
  if (detail('reason') === 'disabled')
    return say`${user} could not sign in${into}, because the account is disabled${times}`
  if (typeof user !== 'string')
    return say`${count === 1 ? 'A wrong password' : say`${count} wrong passwords`} for ${user}${to}`
  if (detail('account') === '') return say`${count === 1 ? 'A sign-in' : say`${count} sign-ins`} failed${to}`
  return say`A person typed an address that no account has${times}${to}`
}
