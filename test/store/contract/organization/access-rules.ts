import assert from 'node:assert/strict'
import { MAXIMA } from '../../../../src/base/maxima.ts'
import { anAccessRule } from '../../../support/store/access-rules.ts'
import { anOrganization, at } from '../../../support/records.ts'
import { perform, performMany, race, tally, times, type Suite } from '../harness.ts'

export const accessRuleCases: Suite = (check) => {
  check('setAccessRule stores the whole rule, once, also in a race', async (stores) => {
    const rule = anAccessRule({
      clients: { only: ['source:registration', 'unverified'], except: ['client:grafana'] },
      access: { only: ['scope:https://pay.example payments:write', 'sign-in'], except: ['api:https://a.example'] },
      people: { only: ['organization:any'], except: ['user:ada'] },
      require: { level: 3, maxAge: 60 },
      state: 'report',
      sentence: 'Only "Finance". \u{1f600}',
    })
    const changes = times(6, (index) => ({ rule: { ...rule, updatedAt: at(index) }, previous: undefined }))
    const outcomes = await race(stores, 'setAccessRule', changes)
    assert.deepEqual(tally(outcomes), { stored: 1, 'id-taken': 5 })
    const stored = { ...rule, updatedAt: at(outcomes.indexOf('stored')) }
    const list = await stores.second.listAccessRules()
    assert.deepEqual(
      list.find(({ id }) => id === rule.id),
      stored,
    )
    assert.deepEqual(
      list.map(({ id }) => id),
      list.map(({ id }) => id).toSorted(),
    )
  })

  check('setAccessRule changes what it read, so that of concurrent changes one succeeds', async (stores) => {
    const rule = anAccessRule()
    await perform(stores.first, 'setAccessRule', { rule, previous: undefined })
    const changes = times(6, (index) => ({
      rule: { ...rule, sentence: `Sentence ${index}`, updatedAt: at(index) },
      previous: rule,
    }))
    const outcomes = await race(stores, 'setAccessRule', changes)
    assert.deepEqual(tally(outcomes), { stored: 1, conflict: 5 })
    const stored = changes[outcomes.indexOf('stored')]?.rule
    const list = await stores.first.listAccessRules()
    assert.deepEqual(
      list.find(({ id }) => id === rule.id),
      stored,
    )
    const absent = anAccessRule()
    assert.equal(await perform(stores.first, 'setAccessRule', { rule: absent, previous: absent }), 'conflict')
  })

  check('a server has a maximum of rules, and deleteAccessRule removes one', async ({ first, second }) => {
    const own = times(MAXIMA.accessRules.most + 1, () => anAccessRule())
    const outcomes = await performMany(
      first,
      'setAccessRule',
      own.map((rule) => ({ rule, previous: undefined })),
    )
    assert.equal((await second.listAccessRules()).length, MAXIMA.accessRules.most)
    assert.equal(outcomes.at(-1), 'too-many')
    const ids = own.filter((_, index) => outcomes[index] === 'stored').map((rule) => ({ id: rule.id }))
    assert.deepEqual(new Set(await performMany(first, 'deleteAccessRule', ids)), new Set(['deleted']))
    assert.equal(await perform(second, 'deleteAccessRule', { id: anAccessRule().id }), 'unknown')
  })

  check('setOrganizationRules replaces the rules that it read, and an organization begins without', async (stores) => {
    const { first, second } = stores
    const organization = anOrganization()
    const { id } = organization
    await perform(first, 'createOrganization', organization)
    assert.deepEqual((await second.findOrganization(id))?.accessRules, [])
    const rules = [anAccessRule({ sentence: 'Ask' }), anAccessRule({ state: 'off' })]
    assert.equal(await perform(first, 'setOrganizationRules', { id, rules, previous: [] }), 'changed')
    assert.deepEqual((await first.findOrganization(id))?.accessRules, rules)
    const changes = times(4, (index) => ({ id, rules: rules.slice(0, index % 2), previous: rules }))
    const outcomes = await race(stores, 'setOrganizationRules', changes)
    assert.deepEqual(tally(outcomes), { changed: 1, conflict: 3 })
    const none = { id: anOrganization().id, rules, previous: [] }
    assert.equal(await perform(first, 'setOrganizationRules', none), 'conflict')
  })
}
