import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import type { AdminCredentialRecord } from '../../../../src/ports/records/admin.ts'
import type { OrganizationRecord } from '../../../../src/ports/records/organization.ts'
import type { EpochMs } from '../../../../src/base/brand.ts'
import { mintAdminCredentialId, type AdminCredentialId, type OrganizationId } from '../../../../src/protocol/ids.ts'
import { assertFailed, kindsOf, outcomesOf, perform, performAll, race, tally, times, type Suite } from '../harness.ts'
import { aHash, anOrganization, at, HOUR, NOW } from '../../../support/records.ts'

export const administratorCases: Suite = (check) => {
  check(
    'createAdminCredential stores all members of the credentials, visible through both handles',
    async ({ first, second }) => {
      const organization = anOrganization()
      await perform(first, 'createOrganization', organization)
      const all = [
        anAdminCredential(),
        anAdminCredential({ access: 'read', ...ofOrganization(organization) }),
        anAdminCredential({ revokedAt: at(1) }),
      ]
      assert.deepEqual(tally(await performAll(first, 'createAdminCredential', all)), { created: 3 })
      for (const store of [first, second]) {
        assert.deepEqual(await Promise.all(all.map(({ id }) => store.findAdminCredential(id))), all)
      }
    },
  )

  check('createAdminCredential with an id that exists fails alone and changes nothing', async ({ first }) => {
    const [credential, other] = [anAdminCredential(), anAdminCredential()]
    await perform(first, 'createAdminCredential', credential)
    const results = await first.commit([
      { name: 'createAdminCredential', input: { ...credential, secretHash: aHash() } },
      { name: 'createAdminCredential', input: other },
    ])
    assertFailed(results[0])
    assert.deepEqual(kindsOf(results), ['failed', 'done'])
    assert.deepEqual(await first.findAdminCredential(credential.id), credential)
    assert.deepEqual(await first.findAdminCredential(other.id), other)
  })

  check(
    'deleteOrganization deletes the credentials of its administrators, so that no other organization with its id gets them',
    async (stores) => {
      const { first, second } = stores
      const organization = anOrganization({ id: 'reused' as OrganizationId })
      const { id } = organization
      const credential = anAdminCredential(ofOrganization(organization))
      const other = anAdminCredential()
      await perform(first, 'createOrganization', organization)
      await performAll(first, 'createAdminCredential', [credential, other])
      await perform(first, 'deleteOrganization', { id, now: NOW })
      assert.equal(await second.findAdminCredential(credential.id), undefined)
      assert.deepEqual(await second.findAdminCredential(other.id), other)
    },
  )

  check('an organization that is deleted while its administrators get credentials leaves none', async (stores) => {
    const { first, second } = stores
    const organization = anOrganization({ id: 'ended' as OrganizationId })
    await perform(first, 'createOrganization', organization)
    const all = times(12, () => anAdminCredential(ofOrganization(organization)))
    const [outcomes] = await Promise.all([
      race(stores, 'createAdminCredential', all),
      perform(second, 'deleteOrganization', { id: organization.id, now: NOW }),
    ])
    assert.equal(outcomes.filter((outcome) => outcome === 'created' || outcome === 'unknown').length, 12)
    for (const { id } of all) assert.equal(await first.findAdminCredential(id), undefined)
    const another = { ...organization, createdAt: at(1) }
    await perform(first, 'createOrganization', another)
    assert.deepEqual(await performAll(second, 'createAdminCredential', [all[0] as AdminCredentialRecord]), ['unknown'])
    const [credential] = times(1, () => anAdminCredential(ofOrganization(another)))
    assert.equal(await perform(second, 'createAdminCredential', credential as AdminCredentialRecord), 'created')
  })

  check('findAdminCredential returns undefined for an id that does not exist', async ({ first }) => {
    await perform(first, 'createAdminCredential', anAdminCredential())
    assert.equal(await first.findAdminCredential(anAdminCredential().id), undefined)
    assert.equal(await first.findAdminCredential('a\0b' as AdminCredentialId), undefined)
  })

  check('revokeAdminCredential stores the first time, for these credentials only', async ({ first, second }) => {
    const [gone, kept] = [anAdminCredential(), anAdminCredential()]
    await performAll(first, 'createAdminCredential', [gone, kept])
    const outcomes = outcomesOf(
      await first.commit([
        { name: 'revokeAdminCredential', input: { id: gone.id, now: at(1) } },
        { name: 'revokeAdminCredential', input: { id: gone.id, now: at(2) } },
        { name: 'revokeAdminCredential', input: { id: anAdminCredential().id, now: at(1) } },
      ]),
    )
    assert.deepEqual(outcomes, ['changed', 'changed', 'unknown'])
    assert.deepEqual(await second.findAdminCredential(gone.id), { ...gone, revokedAt: at(1) })
    assert.deepEqual(await second.findAdminCredential(kept.id), kept)
  })

  check('of concurrent revocations of the same credentials one time is stored', async (stores) => {
    const credential = anAdminCredential()
    await perform(stores.first, 'createAdminCredential', credential)
    const revocations = times(10, (index) => ({ id: credential.id, now: at(index) }))
    assert.deepEqual(tally(await race(stores, 'revokeAdminCredential', revocations)), { changed: 10 })
    const revokedAt = (await stores.first.findAdminCredential(credential.id))?.revokedAt
    assert.ok(revocations.some(({ now }) => now === revokedAt))
    await perform(stores.second, 'revokeAdminCredential', { id: credential.id, now: at(HOUR) })
    assert.equal((await stores.second.findAdminCredential(credential.id))?.revokedAt, revokedAt)
  })

  check('listAdminCredentials pages newest first, `before` exclusive', async ({ first }) => {
    const all = times(5, (index) => anAdminCredential({}, at(index)))
    await performAll(first, 'createAdminCredential', all)
    const newestFirst = all.toReversed()
    const page = await first.listAdminCredentials({ before: undefined, limit: 3 })
    assert.deepEqual(page, newestFirst.slice(0, 3))
    assert.deepEqual(await first.listAdminCredentials({ before: page[2]?.id, limit: 3 }), newestFirst.slice(3))
  })
}

function ofOrganization({ id, createdAt }: OrganizationRecord) {
  return { organizationId: id, organizationSince: createdAt }
}

export function anAdminCredential(
  differing: Partial<AdminCredentialRecord> = {},
  madeAt: EpochMs = NOW,
): AdminCredentialRecord {
  return {
    id: mintAdminCredentialId(madeAt, randomBytes),
    name: `O'Brien "deploys" \u{1f600}`,
    secretHash: aHash(),
    access: 'write',
    organizationId: undefined,
    organizationSince: undefined,
    createdAt: madeAt,
    expiresAt: (madeAt + 100 * HOUR) as EpochMs,
    revokedAt: undefined,
    ...differing,
  }
}
