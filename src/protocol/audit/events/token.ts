import type { EventText } from './event-text.ts'

/** The events of authorizations, and of what is issued for them. */
export const TOKEN_EVENTS = {
  'authorization.approved': {
    when: 'A user approved the authorization, now or by a remembered consent.',
    details: '`authorization`, and `device` if it is that of a device',
  },
  'authorization.denied': {
    when: 'A user denied the authorization, or it was refused for the user.',
    details: '`authorization`, and `device` if it is that of a device',
  },
  'scope.refused': {
    when: 'A request was refused because of its scopes ([apis.md](apis.md)). Counted.',
    details:
      '`reason`, and at most three scopes of each reason (`not_declared`, `not_registered`, …), 40 characters of each; or `apis`, at most three',
  },
  'code.replayed': {
    when: 'A redeemed code was presented again. What it issued is revoked. Further attempts are no event.',
    details: '`authorization`',
  },
  'code.burned': { when: 'The code came with a wrong verifier and was invalidated.', details: '`authorization`' },
  'code.presented-by-another-client': { when: 'The code belongs to another client. Nothing changed. Counted.' },
  'device.presented-by-another-client': {
    when: 'The device code belongs to another client. Nothing changed. Counted.',
  },
  'refresh-token.reused': {
    when: 'A rotated refresh token was presented again: a copy exists. Its family is revoked.',
    details:
      '`generation`; `why`: `strict`, `network-unknown`, `another-key` or `elsewhere` ([alerts](operations/alerts.md#grantorrefreshtokenreused)), absent for a token that was never issued; `parted`, if it was the newest token of a family that was held for another network',
  },
  'refresh-token.parted': {
    when: 'An earlier refresh token came from another network than the newest, or was too old. Its family is held for that network. More than 20 a minute of one unverified client are counted.',
    details:
      '`generation`, `newest`: those of the two tokens; `why`: `elsewhere` or `too-old`; all absent where it is counted',
  },
  'assertion.refused': {
    when: 'An identity assertion was refused. Counted.',
    details: '`reason`, as [errors.md](errors.md) has it; `provider`',
  },
  'refresh-token.presented-by-another-client': {
    when: 'The refresh token belongs to another client. Nothing changed. Counted.',
  },
  'credential.presented-with-another-key': {
    when: 'A code or refresh token is bound to a key, and came without its proof. Nothing changed. Counted.',
    details: '`kind`: `code` or `refresh-token`',
  },
  'revocation.requested-by-another-client': {
    when: 'A client asked to revoke a token of another client. Nothing changed. Counted.',
  },
  'grant.revoked': { when: 'A grant and everything issued on it were revoked.' },
  'token.revoked': {
    when: 'One access token was revoked. More than 20 a minute of one unverified client are counted.',
    details: '`token`: its `jti`; absent where it is counted',
  },
  'introspection.inactive': {
    when: 'An API introspected a token that is inactive for another reason than expiry. Unknown tokens are no event. Counted.',
    details: '`resource`, `reason`',
  },
  'exchange.refused': {
    when: 'An API tried to exchange a token for another API, or one that is inactive for another reason than expiry. Counted.',
    details: '`resource` of the caller, `reason`',
  },
  'tokens.issued': {
    when: 'How many tokens a client got in one minute (see below).',
    details: '`minute`, and a count for each grant type',
  },
} as const satisfies Readonly<Record<string, EventText>>
