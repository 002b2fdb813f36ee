import { say, type EventWords, type Sentence } from '../sentence.ts'
import type { EventText } from './event-text.ts'

/** The events of authorizations, and of what is issued for them. */
export const TOKEN_EVENTS = {
  'authorization.approved': {
    icon: 'client',
    tone: 'good',
    says: (event) => say`${event.user} allowed ${event.client}`,
    when: 'Now, or by a remembered consent.',
    details: '`authorization`; `device`',
  },
  'authorization.denied': {
    icon: 'client',
    tone: 'plain',
    says: (event) => say`${event.user} did not allow ${event.client}`,
    when: 'By a user, or it was refused for the user.',
    details: '`authorization`; `device`',
  },
  'scope.refused': {
    icon: 'client',
    tone: 'caution',
    says: (event) => say`${event.client} asked for scopes that it may not have${event.times}`,
    when: 'A request was refused because of its scopes ([apis.md](apis.md)). Counted.',
    details:
      '`reason`, and at most three scopes of each reason (`not_declared`, `not_registered`, …), 40 characters of each; or `apis`, at most three',
  },
  'code.replayed': {
    icon: 'lock',
    tone: 'bad',
    says: (event) => say`${event.client} sent a used code again; what the code had issued was revoked`,
    when: 'A redeemed code came again. What it issued is revoked. Further attempts are no event.',
    details: '`authorization`',
  },
  'code.burned': {
    icon: 'lock',
    tone: 'bad',
    says: (event) => say`${event.client} sent a code with a wrong verifier; the code ended`,
    when: 'The code came with a wrong verifier, and is invalid now.',
    details: '`authorization`',
  },
  'code.presented-by-another-client': {
    icon: 'lock',
    tone: 'bad',
    says: (event) => say`${event.client} sent a code of another client${event.times}`,
    when: 'Nothing changed. Counted.',
  },
  'device.presented-by-another-client': {
    icon: 'lock',
    tone: 'bad',
    says: (event) => say`${event.client} sent a device code of another client${event.times}`,
    when: 'Nothing changed. Counted.',
  },
  'refresh-token.reused': {
    icon: 'lock',
    tone: 'bad',
    says: (event) => say`${event.client} sent a used refresh token again; the grant ended`,
    when: 'A rotated refresh token came again: a copy exists. Its family is revoked.',
    details:
      '`generation`; `why`: `strict`, `network-unknown`, `another-key` or `elsewhere` ([alerts](monitoring.md#grantorrefreshtokenreused)), absent for a token that was never issued; `parted`, if it was the newest token of a family that was held for another network',
  },
  'refresh-token.parted': {
    icon: 'token',
    tone: 'caution',
    says: (event) =>
      say`${event.client} sent an earlier refresh token from another network, or too late; the grant is held for that network${event.times}`,
    when: 'An earlier refresh token came from another network than the newest, or was too old. Its family is held for that network. Counted beyond 20 a minute of one unverified client.',
    details:
      '`generation`, `newest`: those of the two tokens; `why`: `elsewhere` or `too-old`; all absent where it is counted',
  },
  'assertion.refused': {
    icon: 'lock',
    tone: 'caution',
    says: (event) => say`An identity assertion of ${event.client} was refused${event.times}`,
    when: 'An identity assertion. Counted.',
    details: '`reason`, as [reasons](reasons.md) has it; `provider`',
  },
  'refresh-token.presented-by-another-client': {
    icon: 'lock',
    tone: 'bad',
    says: (event) => say`${event.client} sent a refresh token of another client${event.times}`,
    when: 'Nothing changed. Counted.',
  },
  'credential.presented-with-another-key': {
    icon: 'lock',
    tone: 'bad',
    says: (event) =>
      say`${event.client} sent a ${event.detail('kind') === 'code' ? 'code' : 'refresh token'} without the proof of its key${event.times}`,
    when: 'A bound code or refresh token came without its proof. Nothing changed. Counted.',
    details: '`kind`: `code` or `refresh-token`',
  },
  'revocation.requested-by-another-client': {
    icon: 'lock',
    tone: 'bad',
    says: (event) => say`${event.client} asked to revoke a token of another client${event.times}`,
    when: 'Nothing changed. Counted.',
  },
  'grant.revoked': {
    icon: 'token',
    tone: 'caution',
    says: (event) =>
      event.isOwn
        ? say`What ${event.user} had allowed ${event.client} was revoked`
        : say`${event.by} revoked what ${event.user} had allowed ${event.client}`,
    when: 'With everything issued on it.',
  },
  'token.revoked': {
    icon: 'token',
    tone: 'plain',
    says: (event) => say`An access token of ${event.client} was revoked${event.times}`,
    when: 'One access token. Counted beyond 20 a minute of one unverified client.',
    details: '`token`: its `jti`; absent where it is counted',
  },
  'introspection.inactive': {
    icon: 'token',
    tone: 'caution',
    says: (event) =>
      say`The API ${event.detail('resource')} got a token of ${event.client} that is not active${event.times}`,
    when: 'An API asked about a token that is inactive for another reason than expiry. Unknown tokens are no event. Counted.',
    details: '`resource`, `reason`',
  },
  'exchange.refused': {
    icon: 'lock',
    tone: 'caution',
    says: (event) => say`The API ${event.detail('resource')} could not exchange a token${event.times}`,
    when: 'An API presented a token of another API, or one that is inactive for another reason than expiry. Counted.',
    details: '`resource` of the caller, `reason`',
  },
  'tokens.issued': {
    icon: 'token',
    tone: 'plain',
    says: (event) => say`${event.client} got ${tokensOf(event)} in a minute`,
    when: 'The tokens that a client got in one minute; single ones are no event.',
    details: '`minute`, and a count for each grant type',
  },
} as const satisfies Readonly<Record<string, EventText>>

function tokensOf({ sumWithout }: EventWords): Sentence {
  const count = sumWithout('minute')
  return count === 1 ? say`a token` : say`${count} tokens`
}
