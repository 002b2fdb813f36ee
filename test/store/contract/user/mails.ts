import assert from 'node:assert/strict'
import { normalizeEmail } from '../../../../src/protocol/sign-in/email-address.ts'
import { coversAll } from '../../../../src/endpoints/sign-in/changing-session.ts'
import type { CausesMail } from '../../../../src/ports/operations/mail.ts'
import type { Input, OperationName } from '../../../../src/ports/operations/index.ts'
import type { MailRecord } from '../../../../src/ports/records/mail.ts'
import type { SessionRecord, UserRecord } from '../../../../src/ports/records/user.ts'
import type { StoreDriver } from '../../../../src/ports/store.ts'
import type { UserId } from '../../../../src/protocol/ids.ts'
import { aHash, aLink, aMembership, aSession, aSessionStart, aUser, at, HOUR } from '../../../support/records.ts'
import { anIdentity, aProvider } from '../../../support/provider/provider-records.ts'
import { aMail, aPasskey, aSecondFactor } from '../../../support/sign-in/factor-records.ts'
import { perform, race, startSessions, tally, times, type Suite } from '../harness.ts'
import { anEmailCode } from './email-codes.ts'
import { aSweep } from '../server/sweep.ts'

/** A user who is signed in, with a password, and whose sign-in methods an operation changes. */
interface Person {
  readonly user: UserRecord
  readonly session: SessionRecord
}

type Mailing = { readonly [Name in OperationName as Input<Name> extends CausesMail ? Name : never]: Cause<Name> }

/** Makes the input of an operation twice: of one that has the outcome of its mails, and of one that has another. */
type Cause<Name extends OperationName> = (
  store: StoreDriver,
  person: Person,
) => Promise<readonly [caused: Omit<Input<Name>, 'mails'>, other: Omit<Input<Name>, 'mails'>]>

/** Every operation whose input has mails. One that is not here does not compile. */
const MAILING: Mailing = {
  async addMember(store, { user: { id: userId } }) {
    const known = aMembership({ userId })
    await perform(store, 'addMember', known)
    return [aMembership({ userId }), known]
  },
  noticeReuse: async (_, { user: { id: userId } }) => [{ userId }, { userId: aUser().id }],
  setPassword: async (_, { user: { id } }) => {
    const change = { id, passwordHash: 'new', now: at(5) }
    return [change, { ...change, id: aUser().id }]
  },
  setEmail: async (store, { user: { id } }) => {
    const { email } = await aPerson(store).then(({ user }) => user)
    const change = { id, email: normalizeEmail(`new.${aHash()}@acme.test`), emailVerifiedAt: undefined, now: at(5) }
    return [change, { ...change, email: normalizeEmail(email ?? '') }]
  },
  changePassword: async (_, { user: { id, passwordHash: previousHash }, session }) => {
    const change = { id, passwordHash: 'new', previousHash, session: coversAll(session) }
    return [change, { ...change, previousHash: 'another' }]
  },
  createLink: async (_, { user }) => [aLink({ userId: user.id }), aLink()],
  async useLink(store, { user: { id: userId } }) {
    const { hash } = await linkTo(store, userId)
    const use = {
      userId,
      hash,
      passwordHash: 'new',
      keep: [],
      isSecondStepRequired: false,
      browserHash: aHash(),
      now: at(HOUR),
    }
    return [use, { ...use, hash: aHash() }]
  },
  createEmailCode: async (_, { user, session: own }) => {
    const session = coversAll(own)
    return [
      { ...anEmailCode({ userId: user.id }), session },
      { ...anEmailCode(), session },
    ]
  },
  async confirmEmail(store, { user, session: own }) {
    const session = coversAll(own)
    const { userId, email, digest } = anEmailCode({ userId: user.id })
    await perform(store, 'createEmailCode', { ...anEmailCode({ userId, email, digest }), session })
    const confirmation = { userId, email, digest, session, now: at(5) }
    return [confirmation, { ...confirmation, digest: aHash() }]
  },
  async addPasskey(_, { user: { id: userId }, session }) {
    const reason = { kind: 'session', session: coversAll(session) } as const
    const other = { kind: 'session', session: coversAll(aSession({ userId })) } as const
    return [
      { passkey: aPasskey({ userId }), reason },
      { passkey: aPasskey({ userId }), reason: other },
    ]
  },
  async usePasskey(store, person) {
    const { userId, id } = await addPasskey(store, person)
    const said = { isBackupEligible: true, wasBackupEligible: true, isBackedUp: true }
    const use = { userId, id, ...said, now: at(5) }
    return [
      { ...use, counter: 0 },
      { ...use, counter: 9 },
    ]
  },
  async removePasskey(store, person) {
    const { userId, id } = await addPasskey(store, person)
    const removal = { userId, id, by: { kind: 'operator' } } as const
    return [removal, { ...removal, id: aPasskey().id }]
  },
  async removePassword(store, person) {
    const { userId } = await addPasskey(store, person)
    const removal = { userId, session: coversAll(person.session) }
    return [
      { ...removal, passkeysCount: true },
      { ...removal, passkeysCount: false },
    ]
  },
  async linkIdentity(store, { user: { id: userId }, session }) {
    const provider = aProvider()
    await perform(store, 'createProvider', provider)
    const identity = anIdentity({ userId, providerId: provider.id })
    const reason = { kind: 'session', session: coversAll(session) } as const
    const other = { kind: 'session', session: coversAll(aSession()) } as const
    return [
      { identity, reason, now: at(5) },
      { identity: anIdentity({ userId, providerId: provider.id }), reason: other, now: at(5) },
    ]
  },
  async unlinkIdentity(store, person) {
    const [link] = await MAILING.linkIdentity(store, person)
    await perform(store, 'linkIdentity', link)
    const { key, userId, providerId } = link.identity
    const counts = { passkeysCount: false, factors: undefined }
    const unlinking = { key, userId, providerId, ...counts, session: coversAll(person.session), now: at(5) }
    return [
      { ...unlinking, passwordCounts: true },
      { ...unlinking, passwordCounts: false },
    ]
  },
  async enableTotp(_, { user: { id: userId }, session }) {
    const enabling = { factor: aSecondFactor({ userId }), recoveryDigests: [], replaces: undefined }
    return [
      { ...enabling, reason: { kind: 'session', session: coversAll(session) } },
      { ...enabling, reason: { kind: 'session', session: coversAll(aSession({ userId })) } },
    ]
  },
  async useTotp(store, person) {
    const { userId, createdAt, lastStep } = await addApp(store, person)
    const use = { userId, createdAt, isKnownBrowser: false, now: at(5) }
    return [
      { ...use, step: undefined },
      { ...use, step: lastStep + 1 },
    ]
  },
  async useRecoveryCode(store, person) {
    const digest = aHash()
    const { userId } = await addApp(store, person, digest)
    return [
      { userId, digest, now: at(5) },
      { userId, digest: aHash(), now: at(5) },
    ]
  },
  async disableTotp(store, person) {
    const { userId } = await addApp(store, person)
    return [
      { userId, session: coversAll(person.session) },
      { userId, session: coversAll(aSession({ userId })) },
    ]
  },
  async resetSecondFactor(store, person) {
    const { userId } = await addApp(store, person)
    return [{ userId }, { userId: aUser().id }]
  },
  async replaceRecoveryCodes(store, person) {
    const { userId } = await addApp(store, person)
    const change = { userId, recoveryDigests: [aHash()] }
    return [
      { ...change, session: coversAll(person.session) },
      { ...change, session: coversAll(aSession({ userId })) },
    ]
  },
}

export const mailCases: Suite = (check) => {
  check('an operation stores its mails with the outcome that they tell of, and with no other', async (stores) => {
    const { first, second } = stores
    for (const name of Object.keys(MAILING) as (keyof Mailing)[]) {
      const person = await aPerson(first)
      const [caused, refused] = await (MAILING[name] as Cause<typeof name>)(first, person)
      // A link goes to the address of its user alone.
      const to = name === 'createLink' ? { address: person.user.email ?? '' } : {}
      const [mail, other] = times(2, () => aMail({ userId: person.user.id, ...to }))
      assert.ok(mail !== undefined && other !== undefined)
      await perform(first, name, { ...refused, mails: [other] } as never)
      assert.deepEqual(await waitingOf(second, person.user.id), [], `${name} without its outcome`)
      await perform(first, name, { ...caused, mails: [mail] } as never)
      assert.deepEqual(await waitingOf(second, person.user.id), [mail], name)
    }
  })

  check('of nodes that claim a mail, or settle it, one succeeds; the others have nothing of it', async (stores) => {
    const { first, second } = stores
    const mail = await aWaitingMail(first)
    const claims = times(4, (index) => ({ ...mail, until: at(100 + index), attempts: 1 }))
    const claimed = await race(stores, 'rescheduleMail', claims)
    assert.deepEqual(tally(claimed), { rescheduled: 1, taken: 3 })
    const dueAt = at(100 + claimed.indexOf('rescheduled'))
    assert.deepEqual(await waitingOf(second, mail.userId, 99), [])
    assert.deepEqual(await waitingOf(second, mail.userId), [{ ...mail, dueAt, attempts: 1 }])
    assert.equal(await perform(first, 'settleMail', { ...mail, failure: undefined }), 'taken')
    const settlements = times(4, () => ({ ...mail, dueAt, failure: undefined }))
    assert.deepEqual(tally(await race(stores, 'settleMail', settlements)), { sent: 1, taken: 3 })
    assert.deepEqual(await waitingOf(second, mail.userId), [])
    const lost = await aWaitingMail(first)
    assert.equal(await perform(second, 'settleMail', { ...lost, failure: 'refused' }), 'undelivered')
    const replaced = await aWaitingMail(first)
    assert.equal(await perform(second, 'settleMail', { ...replaced, failure: 'void' }), 'void')
  })

  check('mails are listed by their time, the earliest first, and some at once', async ({ first }) => {
    const { user } = await aPerson(first)
    const mails = [at(3), at(1), at(2), at(9)].map((dueAt) =>
      aMail({ userId: user.id, address: user.email ?? '', dueAt }),
    )
    await perform(first, 'createLink', { ...aLink({ userId: user.id }), mails })
    const due = await first.listDueMails({ now: at(3), limit: 2 })
    assert.deepEqual(
      due.map(({ dueAt }) => dueAt),
      [at(1), at(2)],
    )
  })

  check('mails end with their user, and a day after their time', async ({ first }) => {
    const [mail, other] = [await aWaitingMail(first), await aWaitingMail(first)]
    await perform(first, 'deleteUser', { id: mail.userId })
    assert.deepEqual(await waitingOf(first, mail.userId), [])
    const sweepAt = (hours: number) => perform(first, 'sweepExpired', aSweep({ now: at(hours * HOUR) }))
    assert.deepEqual([(await sweepAt(25)).mails, (await sweepAt(25.1)).mails], [0, 1])
    assert.deepEqual(await waitingOf(first, other.userId), [])
  })
}

async function aPerson(store: StoreDriver): Promise<Person> {
  const user = aUser()
  const session = aSession({ userId: user.id })
  await perform(store, 'createUser', user)
  await startSessions(store, aSessionStart({ session, passwordHash: user.passwordHash }))
  return { user, session }
}

async function aWaitingMail(store: StoreDriver): Promise<MailRecord> {
  const { user } = await aPerson(store)
  const mail = aMail({ userId: user.id, address: user.email ?? '' })
  assert.equal(await perform(store, 'createLink', { ...aLink({ userId: user.id }), mails: [mail] }), 'created')
  return mail
}

async function waitingOf(store: StoreDriver, userId: UserId, within = HOUR): Promise<readonly MailRecord[]> {
  const due = await store.listDueMails({ now: at(within), limit: 100 })
  return due.filter((mail) => mail.userId === userId)
}

async function linkTo(store: StoreDriver, userId: UserId) {
  const link = aLink({ userId })
  await perform(store, 'createLink', link)
  return link
}

async function addPasskey(store: StoreDriver, { user, session }: Person) {
  const passkey = aPasskey({ userId: user.id, counter: 5 })
  assert.equal(
    await perform(store, 'addPasskey', { passkey, reason: { kind: 'session', session: coversAll(session) } }),
    'added',
  )
  return passkey
}

async function addApp(store: StoreDriver, { user, session }: Person, digest = aHash()) {
  const factor = aSecondFactor({ userId: user.id })
  const enabling = {
    factor,
    recoveryDigests: [digest],
    replaces: undefined,
    reason: { kind: 'session', session: coversAll(session) },
  } as const
  assert.equal(await perform(store, 'enableTotp', enabling), 'enabled')
  return factor
}
