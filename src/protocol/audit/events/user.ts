import type { EventText } from './event-text.ts'

/** The events of users: their sessions, identities, and what they allowed. */
export const USER_EVENTS = {
  'user.created': {},
  'user.password-changed': {},
  'user.email-changed': { details: "`verified`: whether the new address is known to be the user's" },
  'user.renamed': { when: 'The user chose another name.' },
  'user.updated': { when: "The user's name or profile was changed." },
  'user.disabled': {},
  'user.enabled': { when: 'Sessions and tokens from before stay invalid.' },
  'user.deleted': {},
  'user.tokens-revoked': { when: 'All sessions and tokens of the user were revoked.' },
  'user.provisioned': {
    when: 'A person without an account signed in at a provider, and got one.',
    details: '`provider`',
  },
  'session.started': {
    when: 'A user signed in.',
    details: '`methods`: how the user authenticated (RFC 8176), and `provider`',
  },
  'session.ended': {
    when: 'A user signed out, or the user or an administrator ended sessions. The grants of the apps that signed the user in there end too.',
    details: '`session`: its id; or `sessions`: how many, where it was all but one',
  },
  'sign-in.failed': {
    when: 'A sign-in had a wrong password or an unknown account; an unknown account has no `user_id`. Counted.',
    details:
      '`reason`: `wrong-credentials`, or `disabled` where the password of a disabled account was right; `account`: a keyed digest of the address that was typed',
  },
  'logout.delivered': { when: 'A client was notified that a session of the user has ended.' },
  'logout.undelivered': {
    when: 'A client could not be notified that a session of the user has ended, and no further attempt follows.',
    details: '`reason`',
  },
  'link.created': {
    when: 'An administrator created a link with which the user sets a password or adds a provider.',
    details: '`purpose`: `invitation` or `reset`',
  },
  'link.used': {
    when: 'The user set a password with the link. Sessions and grants from before, and identities that the user did not keep, end.',
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
  'interaction.answered': {
    when: "The operator's application answered. `session.started` follows if it signed the user in.",
    details: '`interaction`: its id; `answer`: `allow`, `ask`, or the error for the client',
  },
  'app.removed': {
    when: 'The user took back what the client may do.',
    details: '`grants`: how many were revoked',
  },
} as const satisfies Readonly<Record<string, EventText>>
