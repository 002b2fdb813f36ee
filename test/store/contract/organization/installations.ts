import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mintClientId, mintOrganizationId } from '../../../../src/protocol/ids.ts'
import type { Scope } from '../../../../src/protocol/token/scope.ts'
import { perform, performAll, race, tally, times, type Suite } from '../harness.ts'
import { anInstallation, at, NOW } from '../../../support/records.ts'

export const installationCases: Suite = (check) => {
  check('install stores the whole installation, for this client and this organization only', async (stores) => {
    const { first, second } = stores
    const plain = anInstallation()
    const acting = anInstallation({ actsForMembers: true, scope: '' as Scope, disabledAt: at(1), notBefore: at(2) })
    assert.deepEqual(await performAll(first, 'install', [plain, acting]), ['installed', 'installed'])
    assert.deepEqual(await second.findInstallation(plain), plain)
    assert.deepEqual(await second.findInstallation(acting), acting)
    assert.equal(await second.findInstallation({ ...plain, clientId: acting.clientId }), undefined)
    assert.equal(await second.findInstallation({ ...plain, organizationId: acting.organizationId }), undefined)
  })

  check(
    'a second install replaces the permissions, enables the installation and revokes what was issued before',
    async ({ first }) => {
      const installation = anInstallation()
      const neighbours = [
        anInstallation({ clientId: installation.clientId }),
        anInstallation({ organizationId: installation.organizationId }),
      ]
      await performAll(first, 'install', [installation, ...neighbours])
      await perform(first, 'disableInstallation', { ...installation, now: at(3) })
      await first.findInstallation(installation)
      const next = {
        ...installation,
        scope: 'admin' as Scope,
        actsForMembers: true,
        createdAt: at(9),
        notBefore: at(9),
      }
      assert.equal(await perform(first, 'install', next), 'replaced')
      assert.deepEqual(await first.findInstallation(installation), { ...next, createdAt: installation.createdAt })
      assert.deepEqual(await Promise.all(neighbours.map(first.findInstallation)), neighbours)
    },
  )

  check('an install by a node whose clock is behind makes nothing valid again', async ({ first }) => {
    const installation = anInstallation({ notBefore: at(100) })
    await perform(first, 'install', installation)
    await perform(first, 'install', { ...installation, notBefore: at(5) })
    assert.deepEqual(await first.findInstallation(installation), installation)
  })

  check('of concurrent installs of one client one is the first, and the others replace it', async (stores) => {
    const installation = anInstallation()
    const installations = times(20, (index) => ({ ...installation, notBefore: at(index) }))
    const outcomes = await race(stores, 'install', installations)
    assert.deepEqual(tally(outcomes), { installed: 1, replaced: 19 })
    assert.deepEqual(await stores.first.findInstallation(installation), { ...installation, notBefore: at(19) })
  })

  check('of several installs in one batch the last is kept', async ({ first }) => {
    const installation = anInstallation()
    const scopes = ['one', 'two', 'three'] as Scope[]
    const outcomes = await performAll(
      first,
      'install',
      scopes.map((scope) => ({ ...installation, scope })),
    )
    assert.deepEqual(outcomes, ['installed', 'replaced', 'replaced'])
    assert.equal((await first.findInstallation(installation))?.scope, 'three')
  })

  check('concurrent installs and uninstalls all return a true outcome', async (stores) => {
    const installation = anInstallation()
    const [made, removed] = await Promise.all([
      race(
        stores,
        'install',
        times(20, () => installation),
      ),
      race(
        { first: stores.second, second: stores.first },
        'uninstall',
        times(20, () => installation),
      ),
    ])
    const { installed = 0, replaced = 0 } = tally(made)
    const isThere = (await stores.first.findInstallation(installation)) !== undefined
    assert.equal(installed + replaced, 20)
    // Every installation was removed again, except for the last one if it still exists.
    assert.equal(installed - (tally(removed)['removed'] ?? 0), isThere ? 1 : 0)
  })

  check('a second disableInstallation keeps the first time and moves the not-before time', async ({ first }) => {
    const installation = anInstallation()
    await perform(first, 'install', installation)
    await first.findInstallation(installation)
    const moments = [at(5), at(9), at(7)].map((now) => ({ ...installation, now }))
    assert.deepEqual(await performAll(first, 'disableInstallation', moments), ['changed', 'changed', 'changed'])
    const disabled = { ...installation, disabledAt: at(5), notBefore: at(9) }
    assert.deepEqual(await first.findInstallation(installation), disabled)
    assert.equal(await perform(first, 'enableInstallation', { ...installation, now: at(8) }), 'changed')
    assert.deepEqual(await first.findInstallation(installation), { ...disabled, disabledAt: undefined })
  })

  check(
    'a token that a node issued for a disabled installation stays invalid after enableInstallation',
    async (stores) => {
      const { first } = stores
      const installation = anInstallation()
      const neighbours = [
        anInstallation({ clientId: installation.clientId }),
        anInstallation({ organizationId: installation.organizationId }),
      ]
      await performAll(first, 'install', [installation, ...neighbours])
      await perform(first, 'disableInstallation', { ...installation, now: at(5) })
      const moments = [at(9), at(12)].map((now) => ({ ...installation, now }))
      // The second call enables an installation that is enabled already, which revokes nothing.
      assert.deepEqual(await performAll(first, 'enableInstallation', moments), ['changed', 'changed'])
      assert.deepEqual(await first.findInstallation(installation), { ...installation, notBefore: at(9) })
      assert.deepEqual(await Promise.all(neighbours.map(first.findInstallation)), neighbours)
    },
  )

  check('uninstall removes one installation, once, and a later install creates a new one', async (stores) => {
    const [installation, other] = [anInstallation(), anInstallation()]
    await performAll(stores.first, 'install', [installation, other])
    await stores.first.findInstallation(installation)
    const outcomes = await race(
      stores,
      'uninstall',
      times(10, () => installation),
    )
    assert.deepEqual(tally(outcomes), { removed: 1, unknown: 9 })
    assert.equal(await stores.first.findInstallation(installation), undefined)
    assert.deepEqual(await stores.first.findInstallation(other), other)
    const again = { ...installation, createdAt: at(20), notBefore: at(20) }
    assert.equal(await perform(stores.first, 'install', again), 'installed')
    assert.deepEqual(await stores.first.findInstallation(installation), again)
  })

  check('a change of an installation that does not exist returns unknown and creates none', async ({ first }) => {
    const installation = anInstallation()
    assert.equal(await perform(first, 'disableInstallation', { ...installation, now: NOW }), 'unknown')
    assert.equal(await perform(first, 'enableInstallation', { ...installation, now: NOW }), 'unknown')
    assert.equal(await perform(first, 'uninstall', installation), 'unknown')
    assert.equal(await first.findInstallation(installation), undefined)
  })

  check(
    'listInstallations pages through an organization’s installations, newest clients first, `before` exclusive',
    async (stores) => {
      const { first } = stores
      const { organizationId } = anInstallation()
      const installations = times(4, (index) =>
        anInstallation({ organizationId, clientId: mintClientId(at(index), randomBytes) }),
      )
      const elsewhere = installations.map(({ clientId }) => anInstallation({ clientId }))
      await performAll(first, 'install', [...installations, ...elsewhere])
      const expected = installations.toReversed()
      const page = await first.listInstallations({ organizationId, before: undefined, limit: 3 })
      assert.deepEqual(page, expected.slice(0, 3))
      const before = expected[2]?.clientId
      assert.deepEqual(await first.listInstallations({ organizationId, before, limit: 3 }), expected.slice(3))
    },
  )

  check(
    'listInstallationsOfClient pages through the organizations of one client, `before` exclusive',
    async (stores) => {
      const { clientId } = anInstallation()
      const installations = times(4, (index) =>
        anInstallation({ clientId, organizationId: mintOrganizationId(at(index), randomBytes) }),
      )
      const elsewhere = installations.map(({ organizationId }) => anInstallation({ organizationId }))
      await performAll(stores.first, 'install', [...installations, ...elsewhere])
      const expected = installations.toReversed()
      const page = await stores.second.listInstallationsOfClient({ clientId, before: undefined, limit: 3 })
      assert.deepEqual(page, expected.slice(0, 3))
      const before = expected[2]?.organizationId
      assert.deepEqual(await stores.first.listInstallationsOfClient({ clientId, before, limit: 3 }), expected.slice(3))
    },
  )
}
