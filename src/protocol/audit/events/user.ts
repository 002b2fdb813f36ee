import type { EventText } from './event-text.ts'

/** The events of users: their sessions, identities, and what they allowed. */
export const USER_EVENTS = {
  'user.created': {},
  'user.imported': {
    when: 'An import stored the account of another system, with its identities and memberships.',
    details: '`source`: the system',
  },
  'user.import-updated': {
    when: 'An import with `--update` changed an account that it had stored, and its user had not used. Earlier grants end.',
    details: '`source`: the system',
  },
  'user.password-changed': {},
  'user.password-upgraded': {
    when: 'The user signed in, and the hash of the password, which another system had made, was replaced. Nothing ends.',
    details: '`format` of the previous one',
  },
  'user.email-changed': { details: "`verified`: whether the new address is known to be the user's" },
  'user.renamed': {},
  'user.updated': {},
  'user.disabled': {},
  'user.enabled': { when: 'Sessions and tokens from before stay invalid.' },
  'user.deleted': {},
  'user.tokens-revoked': {},
  'user.unlocked': {
    when: 'An administrator ended a lock after wrong passwords or codes, or what might have become one.',
  },
  'user.provisioned': {
    when: 'A person without an account signed in at a provider, and got one.',
    details: '`provider`',
  },
  'session.started': {
    when: 'A user signed in.',
    details:
      '`methods`: how the user authenticated (RFC 8176; `recovery`: with a recovery code), and `provider`; origin',
  },
  'session.ended': {
    when: 'A user signed out, or sessions were ended, with the grants of the apps that signed the user in there.',
    details: '`session`: its id; or `sessions`: how many',
  },
  'sign-in.failed': {
    when: 'A sign-in had a wrong password or an unknown account (no `user_id`). Counted.',
    details: '`reason`: `wrong-credentials` or `disabled`; `account`: a keyed digest of the typed address; origin',
  },
  'second-factor.enabled': {
    when: 'A user set up an authenticator app. The other sessions end.',
    details: '`reason`: `session` (on the account page) or `sign-in` (because every sign-in needs two factors)',
  },
  'second-factor.disabled': {
    when: 'The authenticator app and the recovery codes were removed.',
    details: '`by`: `user`, or `operator`, which ends the sessions',
  },
  'passkey.added': {
    when: 'A user added a passkey.',
    details:
      '`passkey`: its id; `reason`: `session` (on the account page), `link` (with a link; ends the password, the sessions and the grants too) or `sign-in` (because every sign-in needs two factors)',
  },
  'passkey.removed': {
    when: 'A passkey was removed. The other sessions of the user end.',
    details: '`passkey`: its id; `by`: `user` or `operator`',
  },
  'passkey.counter-back': {
    when: 'The signature counter of a passkey did not rise: another device may have a copy of its key. The sign-in went on.',
    details: '`passkey`: its id; `eligible`, if it changed',
  },
  'passkey.backup-changed': {
    when: 'A passkey that signed can be copied to other devices now, or no longer.',
    details: '`passkey`: its id; `eligible`: whether it can',
  },
  'user.password-removed': { when: 'The user removed the password. The other sessions end.' },
  'second-factor.refused': {
    when: 'The second step of a sign-in was wrong. The first one was right. Counted.',
    details:
      '`reason`: `second-step-wrong`, `second-step-used` or `second-step-locked` ([errors.md](errors.md)); origin',
  },
  'recovery-codes.replaced': { when: 'The user made new recovery codes. Those from before are void.' },
  'recovery-code.used': {
    when: 'A recovery code was accepted as the second step.',
    details: '`left`: how many remain',
  },
  'mail.undelivered': {
    when: 'A mail to the user could not be sent, and no attempt follows.',
    details: '`purpose`: `invitation`, `reset`, `code` or `notice`; `reason` ([mail.md](mail.md))',
  },
  'logout.delivered': { when: 'A client was notified that a session ended.' },
  'logout.undelivered': { when: 'A client could not be notified of it, and no attempt follows.', details: '`reason`' },
  'link.created': {
    when: 'An administrator created, or the user asked for, a link with which the user sets a password or adds a provider.',
    details: '`purpose`: `invitation` or `reset`; `sent`: whether it was mailed',
  },
  'link.used': {
    when: 'The user set a password with the link. Earlier sessions and grants end, and the identities and passkeys that were not kept.',
    details: 'origin',
  },
  'identity.linked': {
    when: 'An identity at a provider was linked to the account of the user.',
    details:
      '`provider`; `reason`: `session` (the user added it), `link` (with a link; ends the password too), `proof` (after a sign-in to the account), `address` (`--link`), `unused` (never used account)',
  },
  'identity.unlinked': {
    when: 'The user removed an identity. The other sessions that started at its provider end, and the grants that came by its assertions.',
    details: '`provider`',
  },
  'interaction.answered': {
    when: "The operator's application answered. `session.started` follows if it signed the user in.",
    details: '`interaction`: its id; `answer`: `allow`, `ask`, or the error for the client',
  },
  'app.removed': {
    when: 'The user took back what the client may do.',
    details: '`grants`: how many were revoked',
  },
} as const satisfies Readonly<Record<string, EventText>>
