import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { Context } from '../../src/ports/context.ts'
import type { AccessRule, AccessTerm, RuleId } from '../../src/protocol/access/rule.ts'
import type { GroupId } from '../../src/protocol/access/group.ts'
import type { ClientId, UserId } from '../../src/protocol/ids.ts'
import type { Resource } from '../../src/protocol/token/resource.ts'
import { scopeOf } from '../../src/protocol/token/scope.ts'
import { findRuling, NEVER_MET } from '../../src/tokens/access-rules.ts'
import { seededRandom } from '../../tools/agents/random.ts'

const APIS = Array.from({ length: 8 }, (_, index) => ({
  resource: `https://api-${index}.example` as Resource,
  scopes: Array.from({ length: 30 }, (_one, scope) => ({ name: `s${scope}` })),
}))
const RESOURCES = APIS.map(({ resource }) => resource)
const ANY = { only: [], except: [] } as const
const RULES = Array.from({ length: 200 }, (_, index): AccessRule => {
  const except = [`scope:${RESOURCES[index % 8] ?? ''} s${index % 30}` as AccessTerm]
  return {
    id: `rule-${index}` as RuleId,
    clients: ANY,
    access: { only: [], except },
    people: { only: [`group:${'g' as GroupId}`], except: [] },
    require: undefined,
    state: 'on',
    sentence: undefined,
  }
})
const ACCESSES = 300

test('ACS-06: what is kept of rules has a limit, however many combinations of scopes and APIs a client asks for', async () => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const context = {
    accessRules: { peek: () => RULES },
    apis: async () => APIS,
    providers: async () => [],
    store: { findBelonging: async () => ({ groups: [], organizationIds: [] }) },
  } as unknown as Context
  const client = {
    id: 'gci_a' as ClientId,
    chosenId: undefined,
    source: 'registration',
    verifiedAt: undefined,
    document: undefined,
  } as const
  const random = seededRandom(1)
  collect()
  const before = process.memoryUsage().heapUsed
  for (let count = 0; count < ACCESSES; count += 1) {
    const scope = scopeOf([
      's0',
      ...Array.from({ length: 29 }, (_, index) => `s${index + 1}`).filter(() => random() < 0.9),
    ])
    const access = { client, userId: 'gus_a' as UserId, organizationId: undefined, resources: RESOURCES, scope }
    assert.equal(await findRuling(context, access, NEVER_MET), undefined)
  }
  collect()
  const megabytes = (process.memoryUsage().heapUsed - before) / 1e6
  assert.ok(megabytes < 30, `${megabytes} MB`)
})
