import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as z from 'zod'
import { AdminError } from '../../src/admin/admin-error.ts'
import { asAdministrator, COMMAND_LINE } from '../../src/admin/administrators.ts'
import { SERVER_TOKENS } from '../../src/admin/api/api.ts'
import type { KeptApiDocument } from '../../src/admin/api/document.ts'
import { createApi, requireApi, updateApi } from '../../src/admin/api/api.ts'
import { runTask } from '../../src/admin/run-task.ts'
import type { TaskContext } from '../../src/admin/task.ts'
import { requireTask } from '../../src/cli/lib/perform-task.ts'
import { openTestServer } from '../support/server.ts'
import { anApiDeclaration } from '../support/records.ts'

test('of two concurrent updates of one API the second is rejected, and restores nothing that the first removed', async (t) => {
  const { context } = await openTestServer(t)
  const scope = (name: string) => ({ name, sentence: `May ${name}`, grantedTo: 'users' }) as const
  const resource = 'https://api.example'
  await createApi(context, anApiDeclaration(resource, { name: 'Old', scopes: [scope('read'), scope('admin')] }))
  const before = await requireApi(context, resource)
  const [withdrawn, renamed] = await Promise.allSettled([
    updateApi(context, before, { scopes: [scope('read')] }),
    updateApi(context, before, { name: 'New' }),
  ])
  assert.equal(withdrawn.status, 'fulfilled')
  assert.ok(renamed.status === 'rejected' && renamed.reason instanceof AdminError)
  assert.equal(renamed.reason.kind, 'conflict')
  const { name, scopes } = await requireApi(context, resource)
  assert.deepEqual([name, scopes.map((one) => one.name)], ['Old', ['read']])
})

for (const [difference, second] of [
  ['the slash after its origin', 'https://api.example/'],
  ['the case of its host', 'https://API.example'],
] as const) {
  test(`of two concurrent declarations of one API that differ in ${difference}, the second is rejected`, async (t) => {
    const { context } = await openTestServer(t)
    const declare = (resource: string) => createApi(context, anApiDeclaration(resource))
    const [one, other] = await Promise.allSettled([declare('https://api.example'), declare(second)])
    assert.equal(one.status, 'fulfilled')
    assert.ok(other.status === 'rejected' && other.reason instanceof AdminError)
    assert.equal(other.reason.kind, 'conflict')
    assert.deepEqual(
      (await context.store.listApis()).map(({ resource }) => resource),
      ['https://api.example'],
    )
  })
}

test('of two concurrent changes of the tokens of one API the second is rejected, however late the first came', async (t) => {
  const { context } = await openTestServer(t)
  const resource = 'https://api.example'
  await createApi(context, anApiDeclaration(resource))
  const change = (own: TaskContext, tokens: object) =>
    runTask(own, requireTask('api.update'), { resource, tokens }, () => undefined)
  const first = asAdministrator(context, COMMAND_LINE)
  let isBetween = false
  const second: TaskContext = {
    ...first,
    store: {
      ...first.store,
      async listApis() {
        const found = await first.store.listApis()
        if (!isBetween) {
          isBetween = true
          await change(first, { lifetime: 60 })
        }
        return found
      },
    },
  }
  await assert.rejects(change(second, { format: 'opaque' }), { kind: 'conflict' })
  assert.deepEqual((await requireApi(context, resource)).tokens, { ...SERVER_TOKENS, lifetime: 60 })
})

/** What is set, member by member, and differs from the values of a new API. A new member of the input needs a value here. */
const VALUES: Readonly<Record<string, readonly unknown[]>> = {
  name: ['Projects', { en: 'Projects', de: 'Projekte' }, ''],
  'scopes.name': ['projects:read'],
  'scopes.sentence': [{ default: 'Read your projects', de: 'Ihre Projekte lesen' }, 'Read your projects'],
  'scopes.granted_to': ['users-on-request', 'users-and-machines', 'approved-clients', 'users'],
  'scopes.step_up': [{ level: '2fa', max_age: 300 }, { level: 'phr', max_age: null }, null],
  groups: ['entitlements', 'roles'],
  group_words: [['finance=pays', 'dev'], []],
  'tokens.format': ['opaque', 'jwt'],
  'tokens.lifetime': [60, null],
  'tokens.algorithm': ['EdDSA', 'RS256', null],
  'tokens.jwt_type': ['JWT', 'at+jwt'],
  'tokens.application_subject': [true, false],
  'tokens.binding': ['dpop', 'bearer', 'any'],
}

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>
  readonly items?: Schema
}

/** The paths of all members of an input: `tokens.format`. */
function membersOf({ properties, items }: Schema, path = ''): readonly string[] {
  if (items !== undefined) return membersOf(items, path)
  if (properties === undefined) return [path]
  return Object.entries(properties).flatMap(([name, schema]) =>
    membersOf(schema, path === '' ? name : `${path}.${name}`),
  )
}

test('api.update sets every member of its input, api.show shows it, and the other members stay', async (t) => {
  const { context } = await openTestServer(t)
  const own = asAdministrator(context, COMMAND_LINE)
  const resource = 'https://api.example'
  const perform = async (name: string, input: object) =>
    (await runTask(own, requireTask(name), { resource, ...input }, () => undefined)) as Readonly<
      Record<string, unknown>
    >
  const input = z.toJSONSchema(requireTask('api.update').input, { io: 'input' }) as Schema
  const members = membersOf(input).filter((member) => !/^(resource$|step_up|exchange|texts)/.test(member))
  assert.deepEqual(members.toSorted(), Object.keys(VALUES).toSorted())
  for (const id of ['dev', 'finance'])
    await runTask(own, requireTask('group.create'), { group_id: id }, () => undefined)
  await perform('api.create', {})
  await perform('api.update', { scopes: [{ name: 'before', sentence: 'Before', granted_to: 'users' }] })
  for (const member of members) {
    for (const value of VALUES[member] ?? []) {
      const before = await perform('api.show', {})
      const [noun = '', part] = member.split('.')
      const [scope] = before['scopes'] as readonly object[]
      const wanted = part === undefined ? value : { [part]: value }
      const change = noun === 'scopes' ? [{ ...scope, ...(wanted as object) }] : wanted
      await perform('api.update', { [noun]: change })
      const shown = noun === 'tokens' ? { ...(before['tokens'] as object), ...(change as object) } : change
      assert.deepEqual(await perform('api.show', {}), { ...before, [noun]: shown === '' ? null : shown }, member)
    }
  }
})

test('exchange changes the rules that it names, and a rule without scopes is removed; mistakes of the operator are conflicts', async (t) => {
  const { context } = await openTestServer(t)
  const own = asAdministrator(context, COMMAND_LINE)
  const [mcp, other, files] = ['https://mcp.example', 'https://other.example', 'https://files.example'] as const
  const perform = async (name: string, input: object) =>
    (await runTask(own, requireTask(name), { resource: files, ...input }, () => undefined)) as KeptApiDocument
  const scopes = ['read', 'write'].map((name) => ({ name, sentence: `May ${name}`, granted_to: 'users' }))
  await perform('api.create', { resource: mcp })
  const created = await perform('api.create', { scopes, exchange: [{ resource: `${mcp}/`, scope: 'read' }] })
  assert.deepEqual(created.exchange, [{ resource: `${mcp}/`, scope: 'read' }])
  assert.match(created.notice ?? '', /create-credentials https:\/\/mcp\.example\/\)\.$/)
  await perform('api.create-credentials', { resource: mcp })
  const both = await perform('api.update', { exchange: [{ resource: other, scope: 'read write' }] })
  assert.deepEqual(both.exchange, [...created.exchange, { resource: other, scope: 'read write' }])
  assert.match(both.notice ?? '', /Without credentials: https:\/\/other\.example \(not declared\)\.$/)
  const mistakes = [
    [{ resource: files, scope: 'read' }],
    [{ resource: mcp, scope: 'read admin' }],
    [{ resource: mcp, scope: 'openid' }],
    [
      { resource: mcp, scope: 'read' },
      { resource: `${mcp}/`, scope: '' },
    ],
  ]
  for (const exchange of mistakes)
    await assert.rejects(perform('api.update', { exchange }), { kind: 'conflict' }, JSON.stringify(exchange))
  assert.deepEqual(await perform('api.update', { name: 'Files' }), { ...both, name: 'Files' })
  const none = [mcp, other].map((resource) => ({ resource, scope: '' }))
  assert.deepEqual((await perform('api.update', { exchange: none })).exchange, [])
})

const SENTENCES = { default: 'Read', de: 'Lesen' }
/** Texts of an API that has the name Projects, and one scope with these sentences. */
const TEXT_CHANGES: readonly (readonly [change: object, name: unknown, sentence: unknown, claim: string])[] = [
  [{ name: { default: ' P ' } }, 'P', SENTENCES, 'only a default is a plain text, without the spaces around it'],
  [{ name: { de: 'P', en: 'Q' } }, { en: 'Q', de: 'P' }, SENTENCES, 'the languages have one order'],
  [
    { texts: [{ language: 'de', text: 'P' }] },
    { default: 'Projects', de: 'P' },
    SENTENCES,
    'a name in one more language',
  ],
  [{ texts: [{ language: 'default', text: '' }] }, null, SENTENCES, 'the last text of a name is removed'],
  [
    { texts: [{ language: 'en', scope: 'read', text: 'See' }] },
    'Projects',
    { default: 'Read', en: 'See', de: 'Lesen' },
    'a sentence in one more language',
  ],
  [{ texts: [{ language: 'de', scope: 'read', text: '' }] }, 'Projects', 'Read', 'a sentence in one language less'],
  [
    { name: 'N', texts: [{ language: 'de', text: 'P' }] },
    { default: 'N', de: 'P' },
    SENTENCES,
    'texts come after the members that replace all of them',
  ],
  [{ step_up: [{ scope: 'read', level: '2fa' }] }, 'Projects', SENTENCES, 'another change leaves them as they are'],
]

test('texts in several languages: each is changed alone, and the form that is kept is one', async (t) => {
  const { context } = await openTestServer(t)
  const own = asAdministrator(context, COMMAND_LINE)
  for (const [index, [change, name, sentence, claim]] of TEXT_CHANGES.entries()) {
    const resource = `https://api-${index}.example`
    const perform = async (task: string, input: object) =>
      (await runTask(own, requireTask(task), { resource, ...input }, () => undefined)) as KeptApiDocument
    const scopes = [{ name: 'read', sentence: SENTENCES, granted_to: 'users' }]
    const declared = await perform('api.create', { name: 'Projects', scopes })
    assert.deepEqual([declared.name, declared.scopes[0]?.sentence], ['Projects', SENTENCES])
    const changed = await perform('api.update', change)
    assert.equal(JSON.stringify([changed.name, changed.scopes[0]?.sentence]), JSON.stringify([name, sentence]), claim)
    const { notice: _, ...kept } = changed
    assert.deepEqual(await perform('api.show', {}), kept, claim)
    const { scopesSince } = await requireApi(context, resource)
    assert.equal(scopesSince.size, 0, 'a scope is as old as before')
  }
})

const LONG = 'x'.repeat(201)
const REFUSED_TEXTS: readonly (readonly [input: object, message: RegExp])[] = [
  [{ name: {} }, /^name: Give the text in one language at least\.$/],
  [{ name: { xx: 'Projets' } }, /^name\.xx: There is no such language here\. There are: default, en, de, es, fr\.$/],
  [{ name: { de: '' } }, /^name\.de: This must have between 1 and 200 characters/],
  [{ name: { de: LONG } }, /^name\.de: This must have at most 200 characters\.$/],
  [{ name: { de: 'a\u202eb' } }, /^name\.de: .*control character/],
  [{ name: { de: ['a'] } }, /^name\.de: This must be a string\.$/],
  [{ name: LONG }, /^name: This must have at most 200 characters\.$/],
  [{ name: 7 }, /^name: This has the wrong type\.$/],
  [{ name: ['a'] }, /^name: This has the wrong type\.$/],
  [{ scopes: [{ name: 'read', sentence: { FR: 'x' }, granted_to: 'users' }] }, /^scopes\.0\.sentence\.FR: There is no/],
  [{ scopes: [{ name: 'read', sentence: '', granted_to: 'users' }] }, /^scopes\.0\.sentence: This must have between/],
  [{ texts: [{ language: 'xx', text: 'x' }] }, /^texts\.0\.language: The value is not one of the allowed/],
  [{ texts: [{ language: 'de', scope: 'other', text: 'x' }] }, /^The API has no scope other, which texts names\.$/],
  [{ texts: [{ language: 'default', scope: 'read', text: '' }] }, /^The scope read needs a text/],
]

test('texts in several languages: what no page can show is refused, with its place', async (t) => {
  const { context } = await openTestServer(t)
  const own = asAdministrator(context, COMMAND_LINE)
  const resource = 'https://api.example'
  const perform = (task: string, input: object) =>
    runTask(own, requireTask(task), { resource, ...input }, () => undefined)
  await perform('api.create', { scopes: [{ name: 'read', sentence: 'Read', granted_to: 'users' }] })
  for (const [input, message] of REFUSED_TEXTS)
    await assert.rejects(perform('api.update', input), { message }, JSON.stringify(input))
})

test('step_up changes what scopes require, and scopes that are declared again without one keep it', async (t) => {
  const { context } = await openTestServer(t)
  const own = asAdministrator(context, COMMAND_LINE)
  const resource = 'https://api.example'
  const perform = async (name: string, input: object) => {
    const shown = await runTask(own, requireTask(name), { resource, ...input }, () => undefined)
    return (shown as KeptApiDocument).scopes.map(({ name: scope, step_up }) => [scope, step_up])
  }
  const scope = (name: string, granted_to = 'users') => ({ name, sentence: `May ${name}`, granted_to })
  const two = { level: '2fa', max_age: 300 }
  const scopes = [scope('read'), scope('pay'), scope('sync', 'users-and-machines')]
  const declared = await perform('api.create', { scopes, step_up: [{ scope: 'pay', ...two }] })
  assert.deepEqual(declared, [
    ['read', null],
    ['pay', two],
    ['sync', null],
  ])
  const renamed = await perform('api.update', { scopes: [{ ...scope('pay'), sentence: 'Pay' }, scope('read')] })
  assert.deepEqual(renamed, [
    ['pay', two],
    ['read', null],
  ])
  const changed = await perform('api.update', {
    step_up: [
      { scope: 'read', level: 'phr' },
      { scope: 'pay', level: 'none' },
    ],
  })
  assert.deepEqual(changed, [
    ['pay', null],
    ['read', { level: 'phr', max_age: null }],
  ])
  const mistakes = [
    { step_up: [{ scope: 'other', level: '2fa' }] },
    {
      step_up: [
        { scope: 'pay', level: '2fa' },
        { scope: 'pay', level: 'phr' },
      ],
    },
    { scopes: [{ ...scope('sync', 'users-and-machines'), step_up: two }] },
  ]
  for (const mistake of mistakes)
    await assert.rejects(perform('api.update', mistake), { kind: 'conflict' }, JSON.stringify(mistake))
  assert.deepEqual(await perform('api.show', {}), changed)
})
