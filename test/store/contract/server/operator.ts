import assert from 'node:assert/strict'
import type { RowCountsRecord } from '../../../../src/ports/records/row-counts.ts'
import type { ApiDefinition, ApiRecord, ApiScope } from '../../../../src/ports/records/api.ts'
import type { Scope } from '../../../../src/protocol/token/scope.ts'
import { sameResource, type Resource } from '../../../../src/protocol/token/resource.ts'
import { outcomesOf, perform, performAll, race, tally, times, type Suite } from '../harness.ts'
import { aHash, anApi, at, NOW } from '../../../support/records.ts'

export const operatorCases: Suite = (check) => {
  check('declareApi stores the API, listed in the order of identifiers', async ({ first, second }) => {
    const apis = [anApi(), anApi({ name: undefined, scopes: [] }), anApi()]
    for (const api of apis) assert.equal(await perform(first, 'declareApi', api), 'declared')
    assert.deepEqual(await second.listApis(), byResource(apis))
  })

  check('of concurrent declarations of one API exactly one succeeds, and its definition is kept', async (stores) => {
    const { resource } = anApi()
    const apis = times(10, (index) => anApi({ resource, name: `number ${index}` }))
    const outcomes = await race(stores, 'declareApi', apis)
    assert.deepEqual(tally(outcomes), { declared: 1, taken: 9 })
    assert.deepEqual(await stores.first.listApis(), [apis[outcomes.indexOf('declared')]])
  })

  check(
    'of concurrent declarations of one API that differ in a slash after the origin or in case exactly one succeeds',
    async (stores) => {
      for (let round = 1; round <= 5; round += 1) {
        const { resource } = anApi()
        const texts = [resource, `${resource}/`, resource.toUpperCase()]
        const apis = times(12, (index) => anApi({ resource: texts[(index >> 1) % 3] as Resource }))
        const outcomes = await race(stores, 'declareApi', apis)
        assert.deepEqual(tally(outcomes), { declared: 1, taken: 11 })
        const declared = (await stores.first.listApis()).filter((api) => sameResource(api.resource, resource))
        assert.deepEqual(declared, [apis[outcomes.indexOf('declared')]])
      }
    },
  )

  check(
    'an API can be declared with or without the slash, in either case, but once, in one batch and one after the other',
    async (stores) => {
      const { first, second } = stores
      const plain = (text: string) => text
      const slashed = (text: string) => `${text}/`
      const upper = (text: string) => text.toUpperCase()
      for (const spellings of [
        [plain, slashed],
        [slashed, plain],
        [plain, upper],
        [upper, slashed],
      ]) {
        const { resource } = anApi()
        const [one, other] = spellings.map((spell) => anApi({ resource: spell(resource) as Resource }))
        assert.ok(one && other)
        assert.deepEqual(await performAll(first, 'declareApi', [one, other]), ['declared', 'taken'])
        assert.equal(await perform(second, 'declareApi', other), 'taken')
        const deletion = [
          { name: 'deleteApi', input: one.resource },
          { name: 'declareApi', input: other },
        ] as const
        assert.deepEqual(outcomesOf(await first.commit(deletion)), ['deleted', 'declared'])
        assert.equal(await perform(second, 'declareApi', one), 'taken')
        assert.ok((await second.listApis()).some((api) => api.resource === other.resource))
      }
    },
  )

  check('two resources that differ in a slash after a path are different APIs', async ({ first }) => {
    const { resource } = anApi()
    const apis = ['/a', '/a/', '?x', '/?x', '//'].map((end) => anApi({ resource: `${resource}${end}` as Resource }))
    assert.deepEqual(tally(await performAll(first, 'declareApi', apis)), { declared: apis.length })
    assert.deepEqual(await first.listApis(), byResource(apis))
  })

  check(
    'an API keeps which clients each scope is granted to, and can only be updated with that as previous value',
    async ({ first, second }) => {
      const kinds = ['users', 'users-on-request', 'users-and-machines', 'approved-clients'] as const
      const scopes = kinds.map((grantedTo) => ({ name: grantedTo, sentence: `To ${grantedTo}`, grantedTo }))
      const api = anApi({ scopes })
      assert.equal(await perform(first, 'declareApi', api), 'declared')
      assert.deepEqual(await second.listApis(), [api])
      const changed = { ...api, scopes: scopes.slice(1) }
      const stale = { ...api, scopes: scopes.toReversed() }
      assert.equal(await perform(second, 'updateApi', { previous: stale, api: changed }), 'conflict')
      assert.equal(await perform(second, 'updateApi', { previous: api, api: changed }), 'changed')
      assert.deepEqual(await first.listApis(), [changed])
    },
  )

  check('an API stores each of its token settings independently', async ({ first, second }) => {
    const tokens = [
      {
        format: 'opaque',
        lifetime: 60,
        algorithm: 'RS256',
        jwtType: 'at+jwt',
        applicationSubject: true,
        binding: 'dpop',
      },
      {
        format: 'jwt',
        lifetime: 86_400,
        algorithm: undefined,
        jwtType: 'JWT',
        applicationSubject: true,
        binding: 'bearer',
      },
      {
        format: 'jwt',
        lifetime: undefined,
        algorithm: 'EdDSA',
        jwtType: 'at+jwt',
        applicationSubject: false,
        binding: 'any',
      },
      {
        format: 'opaque',
        lifetime: undefined,
        algorithm: undefined,
        jwtType: 'at+jwt',
        applicationSubject: false,
        binding: 'any',
      },
    ] as const
    const apis = tokens.map((one) => anApi({ tokens: one }))
    assert.deepEqual(tally(await performAll(first, 'declareApi', apis)), { declared: 4 })
    assert.deepEqual(await second.listApis(), byResource(apis))
  })

  check(
    'updateApi replaces everything but the creation time and the credentials, if the API still equals `previous`',
    async ({ first, second }) => {
      const [api, other] = [anApi(), anApi()]
      const { tokens } = api
      const scopesSince = new Map([['read', at(1000)]])
      const credentials = { id: aHash() as never, secretHash: aHash() }
      await performAll(first, 'declareApi', [api, other])
      await perform(first, 'setApiCredentials', { resource: api.resource, credentials })
      const requiring = (maxAge: number | undefined): readonly ApiScope[] =>
        api.scopes.map((scope) => ({ ...scope, stepUp: { level: 3, maxAge } }))
      const [scope] = api.scopes
      assert.ok(scope)
      const changes = [
        { name: undefined, scopes: [], tokens: { ...tokens, format: 'opaque', lifetime: 60, algorithm: 'EdDSA' } },
        { name: 'Other', scopesSince, tokens: { ...tokens, jwtType: 'JWT', applicationSubject: true } },
        { name: 'Other', tokens: { ...tokens, binding: 'dpop' } },
        { exchange: [{ resource: other.resource, scope: 'read' as Scope }] },
        { scopes: requiring(undefined) },
        { scopes: requiring(300) },
        { name: { default: 'Other', de: 'Andere' }, scopes: [{ ...scope, sentence: { en: 'Read', de: 'Lesen' } }] },
        { name: { de: 'Andere' } },
        // As an earlier version stored it, too: a plain text.
        { name: '{"de":"Andere"}' },
        { name: 'Other' },
      ] as const
      let previous: ApiDefinition = api
      for (const change of changes) {
        const next = { ...api, ...change }
        assert.equal(await perform(first, 'updateApi', { previous, api: next }), 'changed')
        assert.equal(await perform(first, 'updateApi', { previous, api: { ...next, name: 'late' } }), 'conflict')
        previous = next
        assert.deepEqual(await second.listApis(), byResource([{ ...api, ...change, credentials }, other]))
      }
      const { createdAt: _, credentials: __, ...unknown } = anApi()
      assert.equal(await perform(first, 'updateApi', { previous: unknown, api: unknown }), 'conflict')
      assert.equal((await second.listApis()).length, 2)
    },
  )

  check('of concurrent updates of one API exactly one succeeds, and the others return conflict', async (stores) => {
    const api = anApi()
    await perform(stores.first, 'declareApi', api)
    const updates = times(
      10,
      (index) =>
        ({
          ...api,
          name: `number ${index}`,
          scopes: [],
          tokens: { ...api.tokens, lifetime: 60 + index },
        }) as const,
    )
    const outcomes = await race(
      stores,
      'updateApi',
      updates.map((update) => ({ previous: api, api: update })),
    )
    assert.deepEqual(tally(outcomes), { changed: 1, conflict: 9 })
    const [kept] = await stores.first.listApis()
    assert.deepEqual(kept, { ...api, ...updates[outcomes.indexOf('changed')] })
  })

  check('deleteApi removes that API, once', async ({ first }) => {
    const [gone, kept] = [anApi(), anApi()]
    await performAll(first, 'declareApi', [gone, kept])
    assert.deepEqual(await performAll(first, 'deleteApi', [gone.resource, gone.resource]), ['deleted', 'unknown'])
    assert.deepEqual(await first.listApis(), [kept])
  })

  check('insertSettingOnce: of concurrent values one is stored and returned to all callers', async (stores) => {
    const name = aHash()
    const values = times(12, () => aHash())
    const outcomes = await race(
      stores,
      'insertSettingOnce',
      values.map((value) => ({ name, value })),
    )
    assert.equal(new Set(outcomes).size, 1)
    assert.ok(values.includes(outcomes[0] as never))
    assert.equal(await perform(stores.second, 'insertSettingOnce', { name, value: 'later' }), outcomes[0])
    assert.equal(await perform(stores.second, 'insertSettingOnce', { name: aHash(), value: 'other' }), 'other')
  })

  check(
    'replaceSetting: the last value is kept, and the time of the last backup and the issuer are read',
    async ({ first, second }) => {
      for (const value of ['1000', '2000']) {
        assert.equal(await perform(first, 'replaceSetting', { name: 'last-backup', value }), 'replaced')
      }
      assert.equal(await second.findLastBackup(), 2000)
      assert.equal(await second.findIssuer(), undefined)
      await perform(first, 'replaceSetting', { name: 'issuer', value: 'https://one.test' })
      assert.equal(await second.findIssuer(), 'https://one.test')
    },
  )

  check('replaceSetting: what is counted of large tables is read as it was stored', async ({ first, second }) => {
    assert.equal(await second.findRowCounts(), undefined)
    const finished = { counts: { live: 2, over: 1 }, begunAt: NOW, endedAt: NOW, countedMs: 3 }
    const record: RowCountsRecord = { grants: { finished }, clients: {}, users: {} }
    await perform(first, 'replaceSetting', { name: 'row-counts', value: JSON.stringify(record) })
    assert.deepEqual(await second.findRowCounts(), record)
  })

  check('a store that was not restored has no pending restore', async ({ first }) => {
    assert.equal(await first.findPendingRestore(), undefined)
  })

  check('ping succeeds', async ({ first, second }) => {
    await first.ping()
    await second.ping()
  })
}

function byResource(apis: readonly ApiRecord[]): readonly ApiRecord[] {
  return apis.toSorted((left, right) => (left.resource < right.resource ? -1 : 1))
}
