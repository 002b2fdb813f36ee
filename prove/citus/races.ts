import { randomBytes } from 'node:crypto'
import { coversAll } from '../../src/endpoints/sign-in/changing-session.ts'
import type { RevocationCutoff } from '../../src/ports/operations/token.ts'
import type { SessionRecord } from '../../src/ports/records/user.ts'
import type { StoreDriver } from '../../src/ports/store.ts'
import { after } from '../../src/base/brand.ts'
import { mintAuthorizationId, type GrantId } from '../../src/protocol/ids.ts'
import type { Findings } from '../findings.ts'
import { ADMINISTRATION_RACES } from './administration.ts'
import { atOnce, type Race } from './at-once.ts'
import { IMPORT_RACES } from './imports.ts'
import {
  aCode,
  anAssertedPerson,
  aConsent,
  anEmailCode,
  aHash,
  aLink,
  aDevice,
  anIdentity,
  aPerson,
  aPushedRequest,
  aRequest,
  aSession,
  aUser,
  CLIENT_ID,
  createProvider,
  HOUR_MS,
  link,
  now,
  perform,
  startOf,
  type Person,
} from './person.ts'

const RACES: Readonly<Record<string, Race>> = {
  async 'a code and its replay'({ one, other }) {
    const { redeemed, redeem } = await aCode(one)
    const outcomes = await atOnce(redeem(one), redeem(other))
    if (outcomes.filter((outcome) => outcome === 'redeemed').length !== 1) return outcomes.join(' and ')
    return isAnyLive(other, redeemed)
  },
  async 'a code and the removal of its app'({ one, other }) {
    const { user, redeemed, redeem } = await aCode(one)
    const removal = { userId: user.id, clientId: CLIENT_ID, organizationId: undefined, ...endNow() }
    await atOnce(redeem(one), () => perform(other, 'removeApp', removal))
    return isAnyLive(other, redeemed)
  },
  async 'a code and the sign-out'({ one, other }) {
    const { session, redeemed, redeem } = await aCode(one)
    await atOnce(redeem(one), () => perform(other, 'endSession', { id: session.id, ...endNow() }))
    return isAnyLive(other, redeemed)
  },
  async 'an assertion and the removal of its provider'({ one, other }) {
    const { opened, open, unlink } = await anAssertedPerson(one)
    const outcomes = await atOnce(open(one), unlink(other))
    return outcomes[1] === 'unlinked' ? isAnyLive(other, opened) : outcomes.join(' and ')
  },
  async 'a code and the deletion of its user'({ one, other }) {
    const { user, redeemed, redeem } = await aCode(one)
    await atOnce(redeem(one), () => perform(other, 'deleteUser', { id: user.id }))
    return isAnyLive(other, redeemed)
  },
  async 'an assertion and the deletion of its user'({ one, other }) {
    const { user, opened, open } = await anAssertedPerson(one)
    await atOnce(open(one), () => perform(other, 'deleteUser', { id: user.id }))
    return isAnyLive(other, opened)
  },
  async 'an approval and the sign-out'({ one, other }) {
    const person = await aPerson(one)
    const { authorization, approval } = await aRequest(one, person)
    const [outcome] = await atOnce(
      () => perform(one, 'approveAuthorization', approval),
      () => perform(other, 'endSession', { id: person.session.id, ...endNow() }),
    )
    if ((await other.findAuthorization(authorization.id))?.status.kind === 'approved') return 'a code is redeemable'
    if (outcome !== 'approved') return undefined
    const due = await other.listDueLogoutNotices({ now: now(), limit: 1_000_000, except: [] })
    return due.some(({ userId }) => userId === person.user.id) ? undefined : 'no notice is due'
  },
  async 'a sign-in and a new password'({ one, other }) {
    const { user, session } = await aPerson(one)
    const next = aSession(user)
    const change = {
      id: user.id,
      passwordHash: 'new',
      previousHash: user.passwordHash,
      session: coversAll(session),
      mails: [],
    }
    await atOnce(
      () => perform(one, 'startSession', startOf(user, next)),
      () => perform(other, 'changePassword', change),
    )
    return (await other.findSession(next.id)) === undefined ? undefined : 'a session with the old password is active'
  },
  async 'a sign-in and the use of a link'({ one, other }) {
    const person = await aPerson(one)
    const next = aSession(person.user)
    const use = await aLink(one, person)
    await atOnce(
      () => perform(one, 'startSession', startOf(person.user, next)),
      () => use(other),
    )
    return isSignedIn(other, person, next)
  },
  async 'an identity and the use of a link that keeps none'({ one, other }) {
    const person = await aPerson(one)
    const use = await aLink(one, person)
    await atOnce(
      () => link(one, anIdentity(person), { kind: 'session', session: coversAll(person.session) }),
      () => use(other),
    )
    return (await other.listIdentities(person.user.id)).length === 0 ? undefined : 'an identity is linked'
  },
  async 'an identity by a link and another use of it'({ one, other }) {
    const person = await aPerson(one)
    const { user, session } = person
    const identity = anIdentity(person)
    await link(one, identity, { kind: 'session', session: coversAll(session) })
    const hash = aHash()
    const use = await aLink(one, person, hash)
    const chosen = anIdentity(person)
    const outcomes = await atOnce(
      () => link(one, chosen, { kind: 'link', hash, keep: [], isMultiFactor: false, isSecondStepRequired: false }),
      () => use(other),
    )
    const kept = (await other.listIdentities(user.id)).map(({ key }) => key)
    const expected = outcomes[0] === 'linked' ? [chosen.key] : []
    const isUsedOnce = (outcomes[0] === 'linked') !== (outcomes[1] === 'used')
    return isUsedOnce && kept.join() === expected.join()
      ? undefined
      : `${outcomes.join(' and ')}, ${kept.length} identities`
  },
  async 'a sign-in and the eviction of an unused account'({ one, other }) {
    const user = await aUser(one)
    const next = aSession(user)
    const person = { user, session: next }
    const evicting = anIdentity(person)
    const outcomes = await atOnce(
      () => perform(one, 'startSession', startOf(user, next)),
      () => link(other, evicting, { kind: 'unused', email: user.email ?? '' }),
    )
    const session = await isSignedIn(other, person, next)
    if (outcomes[1] === 'linked') return session
    const kept = await other.listIdentities(user.id)
    return session !== undefined && kept.length === 0 ? undefined : 'neither of both holds the account'
  },
  async 'a remembered consent and the end of all sessions'({ one, other }) {
    const person = await aPerson(one)
    const { user } = person
    const { approval } = await aRequest(one, person)
    const consent = aConsent(user)
    await atOnce(
      () => perform(one, 'approveAuthorization', { ...approval, remember: consent }),
      () => perform(other, 'revokeUserTokens', { id: user.id, now: now() }),
    )
    return (await other.findConsent(consent)) === undefined ? undefined : 'a consent is remembered'
  },
  async 'a remembered consent and the removal of its app'({ one, other }) {
    const person = await aPerson(one)
    const { authorization, approval } = await aRequest(one, person)
    const consent = aConsent(person.user)
    const removal = { userId: person.user.id, clientId: CLIENT_ID, organizationId: undefined, ...endNow() }
    await atOnce(
      () => perform(one, 'approveAuthorization', { ...approval, remember: consent }),
      () => perform(other, 'removeApp', removal),
    )
    const [remembered, code] = [await other.findConsent(consent), await other.findAuthorization(authorization.id)]
    const isApproved = code?.status.kind === 'approved'
    return (remembered !== undefined) === isApproved ? undefined : 'of a code and its consent one is left'
  },
  async 'a device and another authorization of it'({ one, other }) {
    const { id } = await aDevice(one)
    const [connection, another] = [ofDevice(), ofDevice()]
    const outcomes = await atOnce(
      () => perform(one, 'connectDevice', connection),
      () => perform(other, 'connectDevice', another),
    )
    const winner = (outcomes[0] === 'connected' ? connection : another).authorizationId
    const isOnce = outcomes.toSorted().join() === 'connected,taken'
    const stored = (await other.findDevice(id))?.authorizationId
    return isOnce && stored === winner ? undefined : `${outcomes.join(' and ')}, connected with ${stored}`

    function ofDevice() {
      return { id, authorizationId: mintAuthorizationId(now(), randomBytes), now: now() }
    }
  },
  async 'a pushed request and another authorization of it'({ one, other }) {
    const id = await aPushedRequest(one)
    const [use, another] = [useOf(), useOf()]
    const outcomes = await atOnce(
      () => perform(one, 'usePushedRequest', use),
      () => perform(other, 'usePushedRequest', another),
    )
    const winner = (outcomes[0] === 'used' ? use : another).authorizationId
    const isUsedOnce = outcomes.toSorted().join() === 'taken,used'
    const usedBy = (await other.findPushedRequest(id))?.usedBy
    return isUsedOnce && usedBy === winner ? undefined : `${outcomes.join(' and ')}, used by ${usedBy}`

    function useOf() {
      return { id, authorizationId: mintAuthorizationId(now(), randomBytes), now: now() }
    }
  },
  async 'the code of an address and the same code'({ one, other }) {
    const person = await aPerson(one)
    const { user } = person
    const { code, confirm } = await anEmailCode(one, person)
    const outcomes = await atOnce(confirm(one), confirm(other))
    const owners = [await other.findUserByEmail(code.email), await other.findUserByEmail(user.email ?? '')]
    const isChangedOnce = outcomes.toSorted().join() === 'changed,unknown'
    const isMoved = owners[0]?.id === user.id && owners[1] === undefined
    return isChangedOnce && isMoved
      ? undefined
      : `${outcomes.join(' and ')}, the address is ${isMoved ? 'new' : 'torn'}`
  },
  async 'the codes of two users for one address'({ one, other }) {
    const [person, rival] = [await aPerson(one), await aPerson(one)]
    const { code, confirm } = await anEmailCode(one, person)
    const { confirm: confirmOther } = await anEmailCode(other, rival, code.email)
    const outcomes = await atOnce(confirm(one), confirmOther(other))
    const [winner, loser] = outcomes[0] === 'changed' ? [person.user, rival.user] : [rival.user, person.user]
    const isOne = outcomes.toSorted().join() === 'changed,email-taken'
    const [owner, kept] = [await other.findUserByEmail(code.email), await other.findUserByEmail(loser.email ?? '')]
    return isOne && owner?.id === winner.id && kept?.id === loser.id ? undefined : outcomes.join(' and ')
  },
  async 'the code of an address and the use of a link'({ one, other }) {
    const person = await aPerson(one)
    const use = await aLink(one, person)
    const { code, confirm } = await anEmailCode(one, person)
    const outcomes = await atOnce(confirm(one), () => use(other))
    const isChanged = (await other.findUserByEmail(code.email)) !== undefined
    const isOne = (outcomes[0] === 'changed') !== (outcomes[1] === 'used')
    return isOne && isChanged === (outcomes[0] === 'changed') ? undefined : outcomes.join(' and ')
  },
  async 'a link of the operator and one that the user asked for'({ one, other }) {
    const person = await aPerson(one)
    const [use, useOther] = [await aLink(one, person), await aLink(one, person, aHash(), 'user')]
    const outcomes = await atOnce(
      () => use(one),
      () => useOther(other),
    )
    const left = await other.listLinks(person.user.id)
    return outcomes.toSorted().join() === 'unknown,used' && left.length === 0
      ? undefined
      : `${outcomes.join(' and ')}, ${left.length} links are left`
  },
  async 'a new link of the operator and one that the user asks for'({ one, other }) {
    const person = await aPerson(one)
    const [ours, asked] = [aHash(), aHash()]
    await aLink(one, person)
    await atOnce(
      () => aLink(one, person, ours),
      () => aLink(other, person, asked, 'user'),
    )
    const left = (await other.listLinks(person.user.id)).filter(({ hash }) => hash !== asked)
    return left.length === 1 && left[0]?.hash === ours ? undefined : 'the link of the operator is not the new one'
  },
  async 'a mail and another node that sends it'({ one, other }) {
    const { mail } = await anEmailCode(one, await aPerson(one))
    const until = after(mail.dueAt, HOUR_MS)
    const outcomes = await atOnce(
      () => perform(one, 'rescheduleMail', { ...mail, until, attempts: 1 }),
      () => perform(other, 'rescheduleMail', { ...mail, until, attempts: 1 }),
    )
    return outcomes.toSorted().join() === 'rescheduled,taken' ? undefined : outcomes.join(' and ')
  },
  async 'a mail that is sent and postponed'({ one, other }) {
    const { mail } = await anEmailCode(one, await aPerson(one))
    const until = after(mail.dueAt, 1)
    const outcomes = await atOnce(
      () => perform(one, 'settleMail', { ...mail, failure: undefined }),
      () => perform(other, 'rescheduleMail', { ...mail, until, attempts: 1 }),
    )
    const due = await other.listDueMails({ now: after(until, HOUR_MS), limit: 1_000_000 })
    const isLeft = due.some(({ id }) => id === mail.id)
    const isOne = (outcomes[0] === 'sent') !== (outcomes[1] === 'rescheduled')
    return isOne && isLeft === (outcomes[1] === 'rescheduled') ? undefined : outcomes.join(' and ')
  },
}

/** Runs each race `rounds` times, in each machine's turn. Returns how many rounds each of them had. */
export async function proveRaces(
  stores: readonly StoreDriver[],
  findings: Findings,
  rounds: number,
): Promise<readonly string[]> {
  const [first, second = first] = stores
  if (first === undefined || second === undefined) return []
  const lines: string[] = []
  await createProvider(first)
  for (const [name, race] of Object.entries({ ...RACES, ...IMPORT_RACES, ...ADMINISTRATION_RACES })) {
    for (let round = 0; round < rounds; round += 1) {
      const nodes = round % 2 === 0 ? { one: first, other: second } : { one: second, other: first }
      const fault = await race(nodes)
      if (fault !== undefined) findings.report(`${name}: ${fault}`)
    }
    findings.progress(`${rounds} races of ${name}`)
    lines.push(`races of ${name}: ${rounds}`)
  }
  return lines
}

/** A session counts if the user's not-before time does not end it. */
async function isSignedIn(store: StoreDriver, { user }: Person, { id }: SessionRecord): Promise<string | undefined> {
  const [found, current] = await Promise.all([store.findSession(id), store.findUser(user.id)])
  const isActive = found !== undefined && current !== undefined && found.createdAt >= current.notBefore
  return isActive ? 'a session with the old password is active' : undefined
}

async function isAnyLive(store: StoreDriver, ids: readonly GrantId[]): Promise<string | undefined> {
  const grants = await Promise.all(ids.map((id) => store.findGrant(id)))
  return grants.some((grant) => grant !== undefined && grant.revokedAt === undefined) ? 'a grant is active' : undefined
}

/** The times of an operation that ends what was allowed until now. */
function endNow(): RevocationCutoff {
  const end = now()
  return { now: end, codesSince: after(end, -HOUR_MS) }
}
