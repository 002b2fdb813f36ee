import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { coversAll } from '../../../../src/endpoints/sign-in/changing-session.ts'
import type { PasswordLinkUse } from '../../../../src/ports/operations/user.ts'
import { after } from '../../../../src/base/brand.ts'
import type { LinkRecord } from '../../../../src/ports/records/user.ts'
import { mintAuthorizationId, mintClientId } from '../../../../src/protocol/ids.ts'
import { anIdentity, aProvider, aStrongProvider } from '../../../support/provider/provider-records.ts'
import { aMail, aPasskey, aSecondFactor } from '../../../support/sign-in/factor-records.ts'
import { aGroupMember } from '../organization/groups.ts'
import { aRole } from './roles.ts'
import { hitCounts, perform, performAll, race, startSessions, tally, times, type Suite } from '../harness.ts'
import {
  aGroup,
  aHash,
  aLink,
  aSession,
  aSessionStart,
  aUser,
  aUserOfProvider,
  at,
  HOUR,
  NOW,
} from '../../../support/records.ts'

export const linkCases: Suite = (check) => {
  check(
    'LNK-06: createLink stores the link in the place of an earlier one, for an enabled user who has the address of its mail',
    async ({ first, second }) => {
      const user = aUser()
      await perform(first, 'createUser', user)
      assert.deepEqual(await first.listLinks(user.id), [])
      const led = { clientId: mintClientId(NOW, randomBytes), authorizationId: mintAuthorizationId(NOW, randomBytes) }
      for (const link of [
        aLink({ userId: user.id, ...led }),
        aLink({ userId: user.id, purpose: 'invitation', clientId: led.clientId }),
        aLink({ userId: user.id }),
      ]) {
        assert.equal(await perform(first, 'createLink', link), 'created')
        assert.deepEqual(await second.listLinks(user.id), [link])
      }
      const mailed = {
        ...aLink({ userId: user.id, isMailed: true }),
        mails: [aMail({ userId: user.id, address: user.email ?? '' })],
      }
      assert.equal(await perform(first, 'createLink', mailed), 'created')
      // LNK-06: the user has got another address since it was read.
      const elsewhere = { ...mailed, hash: aHash(), mails: [aMail({ userId: user.id })] }
      assert.equal(await perform(first, 'createLink', elsewhere), 'unknown')
      assert.deepEqual(
        (await second.listLinks(user.id)).map(({ hash }) => hash),
        [mailed.hash],
      )
      await perform(first, 'disableUser', { id: user.id, now: at(1) })
      const links = [aLink({ userId: user.id }), aLink()]
      assert.deepEqual(await performAll(first, 'createLink', links), ['unknown', 'unknown'])
    },
  )

  check(
    'ACC-21: of links that are mailed within a minute the first is stored, and beside it one of another origin, or one that is shown',
    async (stores) => {
      const { first, second } = stores
      const user = aUser()
      await perform(first, 'createUser', user)
      const sending = (differing: Partial<LinkRecord> = {}) => {
        const link = aLink({ userId: user.id, isMailed: true, createdAt: at(60_000), ...differing })
        const mails = [aMail({ userId: user.id, address: user.email ?? '' })]
        return { ...link, mails, unlessSentSince: after(link.createdAt, -60_000) }
      }
      const outcomes = await race(
        stores,
        'createLink',
        times(12, () => sending()),
      )
      assert.deepEqual(tally(outcomes), { created: 1, 'sent-lately': 11 })
      const [stored] = await first.listLinks(user.id)
      assert.equal((await first.listDueMails({ now: at(HOUR), limit: 100 })).length, 1)
      assert.equal(await perform(second, 'createLink', sending({ createdAt: at(119_999) })), 'sent-lately')
      assert.deepEqual(await second.listLinks(user.id), [stored])
      assert.equal(await perform(second, 'createLink', sending({ origin: 'user', createdAt: at(60_001) })), 'created')
      assert.equal(await perform(second, 'createLink', sending({ createdAt: at(120_000) })), 'created')
      const shown = aLink({ userId: user.id, createdAt: at(120_001) })
      assert.equal(await perform(first, 'createLink', shown), 'created')
      assert.deepEqual(await second.listLinks(user.id), [shown])
    },
  )

  check('a link whose use sets a password ends the counts of wrong ones in its buckets', async ({ first, second }) => {
    const user = aUser()
    const link = aLink({ userId: user.id })
    await perform(first, 'createUser', user)
    await perform(first, 'createLink', link)
    const hits = times(2, () => ({ bucket: aHash() as string, now: NOW, windowMs: HOUR, by: 1 }))
    await performAll(first, 'countHit', hits)
    const buckets = hits.slice(0, 1).map(({ bucket }) => bucket)
    const counts = () => hitCounts(second, hits)
    assert.equal(await perform(first, 'useLink', useOf(link, { hash: aHash(), buckets })), 'unknown')
    assert.deepEqual(await counts(), [1, 1])
    assert.equal(await perform(first, 'useLink', useOf(link, { buckets })), 'used')
    assert.deepEqual(await counts(), [undefined, 1])
  })

  check(
    'LNK-04: a link that the user asked for replaces only such a link, a link of the operator replaces all, and its use ends all',
    async (stores) => {
      const { first, second } = stores
      const user = aUser()
      await perform(first, 'createUser', user)
      const [handed, asked, again, later] = (['operator', 'user', 'user', 'operator'] as const).map((origin) =>
        aLink({ userId: user.id, origin }),
      ) as [LinkRecord, LinkRecord, LinkRecord, LinkRecord]
      await performAll(first, 'createLink', [handed, asked])
      assert.deepEqual(await second.listLinks(user.id), [handed, asked])
      await perform(first, 'createLink', again)
      assert.deepEqual(await second.listLinks(user.id), [handed, again])
      await perform(first, 'createLink', later)
      assert.deepEqual(await second.listLinks(user.id), [later])
      await perform(first, 'createLink', again)
      const outcomes = await race(stores, 'useLink', [useOf(later), useOf(again)])
      assert.deepEqual(tally(outcomes), { used: 1, unknown: 1 })
      assert.deepEqual(await second.listLinks(user.id), [])
    },
  )

  check('a link that was mailed verifies the address, and one that was handed over does not', async ({ first }) => {
    for (const isMailed of [true, false]) {
      for (const user of [aUser({ emailVerifiedAt: undefined }), aUser({ emailVerifiedAt: at(-5) })]) {
        const link = aLink({ userId: user.id, isMailed })
        await perform(first, 'createUser', user)
        await perform(first, 'createLink', link)
        assert.equal(await perform(first, 'useLink', useOf(link)), 'used')
        const isNew = isMailed && user.emailVerifiedAt === undefined
        const { emailVerifiedAt, updatedAt } = (await first.findUser(user.id)) ?? {}
        assert.deepEqual(
          [emailVerifiedAt, updatedAt],
          isNew ? [at(HOUR), at(HOUR)] : [user.emailVerifiedAt, user.updatedAt],
        )
      }
    }
  })

  check('ACC-04: of concurrent uses of one link exactly one sets the password', async (stores) => {
    const { first, second } = stores
    const user = aUserOfProvider()
    const link = aLink({ userId: user.id })
    await perform(first, 'createUser', user)
    await perform(first, 'createLink', link)
    const uses = times(100, (index) => useOf(link, { passwordHash: `hash ${index}` }))
    const outcomes = await race(stores, 'useLink', uses)
    assert.deepEqual(tally(outcomes), { used: 1, unknown: 99 })
    const passwordHash = `hash ${outcomes.indexOf('used')}`
    assert.deepEqual(await second.findUser(user.id), { ...user, passwordHash, notBefore: at(HOUR) })
    assert.deepEqual(await second.listLinks(user.id), [])
  })

  check(
    'ACC-04: a link with another hash, an expired one and a replaced one are unknown, and change nothing',
    async ({ first }) => {
      const user = aUser()
      const [old, link] = [aLink({ userId: user.id }), aLink({ userId: user.id })]
      await perform(first, 'createUser', user)
      await performAll(first, 'createLink', [old, link])
      const uses = [useOf(link, { hash: aHash() }), useOf(link, { now: link.expiresAt }), useOf(old)]
      assert.deepEqual(await performAll(first, 'useLink', uses), ['unknown', 'unknown', 'unknown'])
      assert.deepEqual(await first.findUser(user.id), user)
      assert.equal(await perform(first, 'useLink', useOf(link)), 'used')
    },
  )

  check(
    'ACC-04: what revokes the sessions of the user ends the link, and deleting the user does',
    async ({ first }) => {
      for (const end of ['disableUser', 'enableUser', 'revokeUserTokens', 'setPassword', 'deleteUser'] as const) {
        const user = aUser()
        const link = aLink({ userId: user.id, createdAt: at(5) })
        await perform(first, 'createUser', user)
        if (end === 'enableUser') await perform(first, 'disableUser', { id: user.id, now: at(4) })
        const { id } = user
        if (end === 'deleteUser') await perform(first, end, { id })
        else if (end === 'enableUser') {
          await perform(first, 'enableUser', { id, now: at(4) })
          await perform(first, 'createLink', link)
          await perform(first, 'disableUser', { id, now: at(6) })
          await perform(first, 'enableUser', { id, now: at(7) })
        } else {
          await perform(first, 'createLink', link)
          await perform(first, end, { id, now: at(6), passwordHash: 'another' })
        }
        const before = await first.findUser(id)
        assert.equal(await perform(first, 'useLink', useOf(link)), 'unknown', end)
        assert.deepEqual(await first.findUser(id), before, end)
      }
    },
  )

  check('a link can be used after the user signed in, and for the time of its creation', async ({ first }) => {
    const user = aUser({ notBefore: at(5) })
    const link = aLink({ userId: user.id, createdAt: at(5) })
    await perform(first, 'createUser', user)
    await perform(first, 'createLink', link)
    assert.equal(await perform(first, 'useLink', useOf(link)), 'used')
  })
}

export const linkFactorCases: Suite = (check) => {
  for (const isMailed of [true, false])
    check(
      `ACC-17, ACC-20: a link that is ${isMailed ? 'mailed' : 'handed over'} leaves the second factors of the account, and adds none, as the table says`,
      async ({ first, second }) => {
        const guarded = aGroup({ isProtected: true })
        await perform(first, 'createGroup', guarded)
        for (const [factors, rule, whenMailed] of FACTORS) {
          const isSecondStepRequired = rule === 'required'
          const handedOver = { ...REPLACES, countsAsFactor: !factors.includes('app') }
          const { keepsFactors, countsAsFactor } = isMailed ? whenMailed : handedOver
          const what = `${factors.join(' and ')}, ${rule}`
          const [provider, strongProvider] = [aProvider(), aStrongProvider()]
          for (const one of [provider, strongProvider]) await perform(first, 'createProvider', one)
          for (const way of ['a password', 'a passkey', 'a multi-factor provider', 'a provider'] as const) {
            const user = aUser()
            const { id: userId } = user
            await perform(first, 'createUser', user)
            const session = aSession({ userId })
            await startSessions(first, aSessionStart({ session }))
            const own = { kind: 'session', session: coversAll(session) } as const
            const passkey = aPasskey({ userId })
            if (factors.includes('passkey')) await perform(first, 'addPasskey', { passkey, reason: own })
            const factor = aSecondFactor({ userId })
            if (factors.includes('app'))
              await perform(second, 'enableTotp', { factor, recoveryDigests: [], replaces: undefined, reason: own })
            const strong = anIdentity({ userId, providerId: strongProvider.id })
            if (factors.includes('identity'))
              await perform(first, 'linkIdentity', { identity: strong, reason: own, now: at(1) })
            if (rule === 'a role') await perform(first, 'setRole', aRole(user))
            if (rule === 'a protected group') await perform(first, 'addGroupMember', aGroupMember(userId, guarded))
            const link = aLink({ userId, isMailed })
            await perform(first, 'createLink', { ...link, roleSince: rule === 'a role' ? NOW : undefined })
            const use = { ...useOf(link), isSecondStepRequired }
            const { hash, keep, now } = use
            const reason = {
              kind: 'link',
              hash,
              keep,
              isSecondStepRequired,
              isMultiFactor: way !== 'a provider',
              now,
            } as const
            const identity = anIdentity({ userId, providerId: provider.id })
            const outcome =
              way === 'a password'
                ? await perform(first, 'useLink', use)
                : way === 'a passkey'
                  ? await perform(first, 'addPasskey', { passkey: aPasskey({ userId }), reason })
                  : await perform(first, 'linkIdentity', { identity, reason, now })
            const isUsed = countsAsFactor || way === 'a password' || way === 'a provider'
            assert.match(outcome, isUsed ? /^(?:used|added|linked)$/ : /^refused$/, `${what}: ${way}`)
            assert.equal((await second.listLinks(userId)).length, isUsed ? 0 : 1, `${what}: ${way}`)
            const left = (await second.listPasskeys(userId)).some(({ id }) => id === passkey.id)
            assert.equal(left, factors.includes('passkey') && (keepsFactors || !isUsed), `${what}: ${way}`)
            const linked = (await second.listIdentities(userId)).some(({ key }) => key === strong.key)
            assert.equal(linked, factors.includes('identity') && (keepsFactors || !isUsed), `${what}: ${way}`)
            assert.equal((await second.findSecondFactor(userId)) !== undefined, factors.includes('app'), what)
            // OTP-09: the browser of a link is known only where no codes are guessed in it.
            const isKnown = way === 'a password' && !factors.includes('app')
            assert.equal(await second.knowsBrowser(userId, use.browserHash), isKnown, `${what}: ${way}`)
          }
        }
      },
    )
}

const REPLACES = { keepsFactors: false, countsAsFactor: true }
const KEEPS = { keepsFactors: true, countsAsFactor: false }
/** What a link that is mailed does to an account, by its second factors and by what asks for them. */
const FACTORS: readonly (readonly [
  factors: readonly ('app' | 'passkey' | 'identity')[],
  rule: 'optional' | 'required' | 'a role' | 'a protected group',
  whenMailed: typeof KEEPS,
])[] = [
  [[], 'optional', REPLACES],
  [[], 'required', REPLACES],
  [[], 'a role', REPLACES],
  [['passkey'], 'optional', REPLACES],
  [['passkey'], 'required', KEEPS],
  [['passkey'], 'a role', KEEPS],
  [['passkey'], 'a protected group', KEEPS],
  [['identity'], 'optional', REPLACES],
  [['identity'], 'required', KEEPS],
  [['identity'], 'a role', KEEPS],
  [['app'], 'optional', KEEPS],
  [['app', 'passkey'], 'optional', KEEPS],
  [['app', 'passkey'], 'required', KEEPS],
]

function useOf({ userId, hash }: LinkRecord, differing: Partial<PasswordLinkUse> = {}): PasswordLinkUse {
  return {
    userId,
    hash,
    passwordHash: 'a new hash',
    keep: [],
    isSecondStepRequired: false,
    browserHash: aHash(),
    now: at(HOUR),
    mails: [],
    ...differing,
  }
}
