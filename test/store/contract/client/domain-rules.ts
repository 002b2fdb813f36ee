import assert from 'node:assert/strict'
import type { Input } from '../../../../src/ports/operations/index.ts'
import { perform, performAll, race, tally, times, type Suite } from '../harness.ts'
import { at } from '../../../support/records.ts'

export const domainRuleCases: Suite = (check) => {
  check('setDomainRule stores rules, listed in the order of their patterns', async ({ first, second }) => {
    const rules = [
      aRule({ pattern: 'https://app.example/client.json', note: undefined }),
      aRule({ pattern: '*.app.example', verdict: 'blocked' }),
      aRule({ pattern: 'app.example' }),
      aRule({ pattern: 'app.example2' }),
    ]
    assert.deepEqual(tally(await performAll(first, 'setDomainRule', rules)), { stored: 4 })
    const [document, below, host, other] = rules
    assert.deepEqual(await second.listDomainRules(), [below, host, other, document])
  })

  check('setDomainRule replaces the rule of its pattern, and no other', async ({ first, second }) => {
    const [rule, other] = [aRule(), aRule({ pattern: 'b.example' })]
    await performAll(first, 'setDomainRule', [rule, other])
    const replaced = { ...rule, verdict: 'blocked', note: undefined, changedAt: at(9) } as const
    assert.equal(await perform(second, 'setDomainRule', replaced), 'stored')
    assert.deepEqual(await first.listDomainRules(), [replaced, other])
  })

  check('removeDomainRule removes that rule, once', async (stores) => {
    const [rule, other] = [aRule(), aRule({ pattern: '*.app.example' })]
    await performAll(stores.first, 'setDomainRule', [rule, other])
    const patterns = times(10, () => ({ pattern: rule.pattern }))
    assert.deepEqual(tally(await race(stores, 'removeDomainRule', patterns)), { removed: 1, unknown: 9 })
    assert.deepEqual(await stores.second.listDomainRules(), [other])
  })

  check('a rule is set and removed only in the place of the one that was read, if that is given', async (stores) => {
    const { first, second } = stores
    const rules = times(20, (index) => aRule({ note: `note ${index}`, previous: null, changedAt: at(1) }))
    assert.deepEqual(tally(await race(stores, 'setDomainRule', rules)), { stored: 1, conflict: 19 })
    const [read] = await first.listDomainRules()
    assert.ok(read)
    const others = times(20, (index) => aRule({ verdict: 'blocked', note: `other ${index}`, previous: read }))
    assert.deepEqual(tally(await race(stores, 'setDomainRule', others)), { stored: 1, conflict: 19 })
    const [now] = await second.listDomainRules()
    assert.equal(now?.verdict, 'blocked')
    const { pattern } = read
    assert.equal(await perform(first, 'removeDomainRule', { pattern, previous: read }), 'conflict')
    assert.deepEqual(await first.listDomainRules(), [now])
    assert.equal(await perform(first, 'removeDomainRule', { pattern, previous: now }), 'removed')
    assert.equal(await perform(first, 'removeDomainRule', { pattern, previous: now }), 'conflict')
    assert.equal(await perform(first, 'setDomainRule', { ...now, previous: now }), 'conflict')
  })

  check('of concurrent rules for one pattern the last one is kept whole', async (stores) => {
    const rules = times(20, (index) => aRule({ note: `note ${index}`, changedAt: at(index) }))
    assert.deepEqual(tally(await race(stores, 'setDomainRule', rules)), { stored: 20 })
    const [kept, ...others] = await stores.first.listDomainRules()
    assert.deepEqual(others, [])
    assert.ok(rules.some((rule) => JSON.stringify(rule) === JSON.stringify(kept)))
  })
}

function aRule(differing: Partial<Input<'setDomainRule'>> = {}): Input<'setDomainRule'> {
  return {
    pattern: 'app.example',
    verdict: 'trusted',
    note: `Ada's "note" -- \u{1f600}`,
    changedAt: at(1),
    ...differing,
  }
}
