import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import type { StoreDriver } from '../../../../src/ports/store.ts'
import { after, type EpochMs } from '../../../../src/base/brand.ts'
import type { NotBeforeTimes } from '../../../../src/ports/records/grant.ts'
import { grantIdOf, mintInteractionId, mintSessionId, type OrganizationId } from '../../../../src/protocol/ids.ts'
import { aReplacement, place } from '../server/master-key.ts'
import { outcomesOf, perform, type Suite } from '../harness.ts'
import { anIdentity, aProvider } from '../../../support/provider/provider-records.ts'
import {
  aClient,
  aGrant,
  aHash,
  aLink,
  anApproval,
  anAuthorization,
  anInteraction,
  anOrganization,
  aRedemption,
  aSession,
  aSessionStart,
  aUser,
  at,
  HOUR,
  MINUTE,
  NOW,
} from '../../../support/records.ts'

const DAY = 24 * HOUR
/** The time of the operation that revokes. */
const REVOKED_AT = at(5000)
/** How much later the rows claim to be from, although they were written before. */
const CLAIMS_MS = [0, 20 * MINUTE, 3652 * DAY]

/** The owners of rows that claim to be from a time. */
type Owners = Awaited<ReturnType<typeof openOwners>>
const ROWS = ['grant', 'code', 'session', 'link', 'consent', 'answer'] as const
type RowName = (typeof ROWS)[number]

interface Ending {
  readonly end: (store: StoreDriver, owners: Owners, now: EpochMs) => Promise<unknown>
  readonly ends: readonly RowName[]
}

const OF_USER = ['grant', 'code', 'session', 'link'] as const
const ACCESS = ['grant', 'code'] as const
const OF_ORGANIZATION = [...ACCESS, 'consent'] as const
/** Each operation that sets a not-before time, with the rows that it ends. */
const ENDINGS: Readonly<Record<string, Ending>> = {
  revokeUserTokens: { end: (store, { id }, now) => perform(store, 'revokeUserTokens', { id, now }), ends: OF_USER },
  disableUser: { end: (store, { id }, now) => perform(store, 'disableUser', { id, now }), ends: OF_USER },
  setPassword: {
    end: (store, { id }, now) => perform(store, 'setPassword', { id, now, passwordHash: 'new' }),
    ends: OF_USER,
  },
  revokeClientTokens: {
    end: (store, { clientId: id }, now) => perform(store, 'revokeClientTokens', { id, now }),
    ends: ACCESS,
  },
  disableOrganization: {
    end: (store, { organizationId: id }, now) => perform(store, 'disableOrganization', { id, now }),
    ends: OF_ORGANIZATION,
  },
  revokeOrganizationTokens: {
    end: (store, { organizationId: id }, now) => perform(store, 'revokeOrganizationTokens', { id, now }),
    ends: OF_ORGANIZATION,
  },
  disableMember: {
    end: (store, { id: userId, organizationId }, now) =>
      perform(store, 'disableMember', { userId, organizationId, now }),
    ends: OF_ORGANIZATION,
  },
  removeMember: {
    end: (store, { id: userId, organizationId }, now) =>
      perform(store, 'removeMember', { userId, organizationId, now }),
    ends: OF_ORGANIZATION,
  },
  revokeAllTokens: {
    end: (store, _, now) => perform(store, 'revokeAllTokens', { now }),
    ends: ['grant', 'code', 'session', 'consent', 'answer'],
  },
  replaceMasterKey: {
    async end(store, _, now) {
      await place(store)
      assert.equal(await perform(store, 'replaceMasterKey', aReplacement({ now })), 'replaced')
    },
    ends: ['grant', 'code', 'session', 'consent', 'answer'],
  },
}

export const notBeforeCases: Suite = (check) => {
  for (const [name, { end, ends }] of Object.entries(ENDINGS)) {
    check(
      `STO-13: ${name} ends the rows of its owner that claim to be from the same time or later, and keeps those of others`,
      async ({ first, second }) => {
        const isForAll = ends.includes('answer')
        const [owners, others] = [await openOwners(first), await openOwners(first)]
        const earlier = await openRows(first, owners, after(REVOKED_AT, -1))
        const estates: (readonly [claim: number, Rows])[] = []
        for (const claim of CLAIMS_MS) estates.push([claim, await openRows(first, owners, after(REVOKED_AT, claim))])
        const ofOthers = await openRows(first, others, after(REVOKED_AT, HOUR))
        await end(second, owners, REVOKED_AT)
        for (const [claim, rows] of estates)
          assert.deepEqual(await endedOf(second, rows, ends), [...ends], `${name}, ${claim} ms later`)
        assert.deepEqual(
          await endedOf(
            second,
            earlier,
            // All consents end, also those that an earlier time tells from others.
            ends.filter((row) => row !== 'link' && row !== 'consent'),
          ),
          [],
        )
        // A sign-in at the operator's application has no user yet, so it ends for all, where its time is far ahead.
        const kept = isForAll ? [] : ROWS.filter((row) => row !== 'answer')
        assert.deepEqual(await endedOf(second, ofOthers, kept), [])
      },
    )
  }

  for (const way of ['a password', 'a provider'] as const) {
    check(`STO-13: a link that is used with ${way} ends what claims to be from later`, async ({ first, second }) => {
      const owners = await openOwners(first)
      const rows = await openRows(first, owners, after(REVOKED_AT, HOUR))
      const link = aLink({ userId: owners.id, createdAt: NOW })
      await perform(first, 'createLink', link)
      const use = { userId: owners.id, hash: link.hash, keep: [], isSecondStepRequired: false, now: REVOKED_AT }
      if (way === 'a password') {
        assert.equal(await perform(second, 'useLink', { ...use, passwordHash: 'new', browserHash: aHash() }), 'used')
      } else {
        const provider = aProvider()
        await perform(first, 'createProvider', provider)
        const identity = anIdentity({ userId: owners.id, providerId: provider.id })
        const reason = { kind: 'link', isMultiFactor: false, ...use } as const
        assert.equal(await perform(second, 'linkIdentity', { identity, reason, now: REVOKED_AT }), 'linked')
      }
      const ends = ['grant', 'code', 'session', 'answer'] as const
      assert.deepEqual(await endedOf(first, rows, ends), [...ends])
    })
  }
}

async function openOwners(store: StoreDriver) {
  const [user, client, organization] = [aUser(), aClient(), anOrganization()]
  await perform(store, 'createUser', user)
  await perform(store, 'registerClient', client)
  await perform(store, 'createOrganization', organization)
  return { id: user.id, clientId: client.id, organizationId: organization.id }
}

type Rows = Awaited<ReturnType<typeof openRows>>

/** Writes rows that claim to be from a time. The sign-in, the request of the code and the interaction began earlier. */
async function openRows(store: StoreDriver, { id: userId, clientId, organizationId }: Owners, time: EpochMs) {
  const began = after(time, -5 * MINUTE)
  const sessionId = mintSessionId(began, randomBytes)
  const session = aSession({ id: sessionId, rootId: sessionId, userId, createdAt: time, expiresAt: after(time, HOUR) })
  const [redeemed, open] = [0, 1].map(() => anAuthorization({ clientId, organizationId }, began))
  assert.ok(redeemed && open)
  const link = aLink({ userId, createdAt: time, expiresAt: after(time, HOUR) })
  const interaction = anInteraction({
    id: mintInteractionId(began, randomBytes),
    createdAt: began,
    expiresAt: after(time, HOUR),
  })
  const grant = aGrant({ userId, clientId, organizationId }, time)
  const times = { now: time, codeExpiresAt: after(time, MINUTE) }
  const target = {
    redirectHost: 'app.example',
    resources: `https://${time}.example`,
    since: 0 as EpochMs,
    under: await timesOf(store, organizationId),
  }
  const consent = { userId, clientId, organizationId, scope: open.scope, ...target }
  const approvals = [redeemed, open].map((authorization) => {
    const remember = authorization === open ? consent : undefined
    return anApproval(authorization, { userId, organizationId, remember, ...times })
  })
  const answer = { kind: 'rejected', error: 'access_denied' } as const
  const started = await store.commit([
    { name: 'startSession', input: aSessionStart({ session }) },
    { name: 'startAuthorization', input: redeemed },
    { name: 'startAuthorization', input: open },
    { name: 'createLink', input: { ...link, mails: [] } },
    { name: 'startInteraction', input: interaction },
  ])
  assert.equal(outcomesOf(started).at(-2), 'created')
  const decided = await store.commit([
    ...approvals.map((input) => ({ name: 'approveAuthorization', input }) as const),
    { name: 'answerInteraction', input: { id: interaction.id, answer, now: time } },
  ])
  assert.deepEqual(outcomesOf(decided), ['approved', 'approved', 'answered'])
  const [approval] = approvals
  assert.ok(approval)
  assert.equal(await perform(store, 'redeemCode', aRedemption(approval, { now: time, grant })), 'redeemed')
  return {
    grantId: grantIdOf(redeemed.id),
    codeId: open.id,
    sessionId,
    userId,
    linkHash: link.hash,
    interactionId: interaction.id,
    consent,
  }
}

/** The not-before times under which a consent is given or read now. */
async function timesOf(store: StoreDriver, organizationId: OrganizationId): Promise<NotBeforeTimes> {
  const organization = await store.findOrganization(organizationId)
  return { server: await store.findNotBefore(), organization: organization?.notBefore }
}

/** Returns which of these rows have ended. A user has one link, so only the newest of several can be found. */
async function endedOf(store: StoreDriver, rows: Rows, asked: readonly RowName[]): Promise<readonly RowName[]> {
  const [link] = await store.listLinks(rows.userId)
  const ended: Readonly<Record<RowName, boolean>> = {
    grant: (await store.findGrant(rows.grantId))?.revokedAt !== undefined,
    code: (await store.findAuthorization(rows.codeId))?.status.kind === 'burned',
    session: (await store.findSession(rows.sessionId)) === undefined,
    link: link?.hash !== rows.linkHash,
    consent:
      (await store.findConsent({ ...rows.consent, under: await timesOf(store, rows.consent.organizationId) })) ===
      undefined,
    answer: (await store.findInteraction(rows.interactionId)) === undefined,
  }
  return asked.filter((row) => ended[row])
}
