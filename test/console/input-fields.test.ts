import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as z from 'zod'
import { localized, NAME_OR_NONE } from '../../src/admin/fields.ts'
import {
  fieldAt,
  findField,
  inputFields,
  labelOf,
  readFields,
  textsOf,
  withoutGaps,
} from '../../src/console/engine/input-fields.ts'

/** The one reader of schemas for forms. */

const input = z.object({
  name: z.string().optional(),
  words: localized(NAME_OR_NONE).optional(),
  days: z.int().nullable().optional(),
  isNew: z.boolean().default(false),
  verified: z.boolean().optional(),
  uris: z.array(z.string()).optional(),
  grants: z.array(z.enum(['code', 'refresh'])).optional(),
  keys: z.object({ keys: z.array(z.looseObject({})) }).optional(),
  tokens: z
    .object({ format: z.enum(['jwt', 'opaque']).optional(), lifetime: z.int().nullable().optional() })
    .optional(),
  scopes: z
    .array(
      z.object({ name: z.string(), step: z.object({ level: z.enum(['2fa']), age: z.int().optional() }).nullable() }),
    )
    .optional(),
})
const fields = inputFields({ input }, Object.keys(input.shape))

test('each kind of member has a kind of field', () => {
  assert.deepEqual(
    fields.map(({ name, kind }) => [name, kind]),
    [
      ['name', 'text'],
      ['words', 'texts'],
      ['days', 'number'],
      ['isNew', 'flag'],
      ['verified', 'choice'],
      ['uris', 'lines'],
      ['grants', 'boxes'],
      ['keys', 'json'],
      ['tokens', 'group'],
      ['scopes', 'rows'],
    ],
  )
})

const FULL = {
  name: 'Ada',
  words: { en: 'Read', de: 'Lesen' },
  days: 3,
  isNew: true,
  verified: false,
  uris: ['a:b', 'c:d'],
  grants: ['code'],
  keys: { keys: [{ kty: 'OKP' }] },
  tokens: { format: 'opaque', lifetime: 60 },
  scopes: [
    { name: 'read', step: null },
    { name: 'pay', step: { level: '2fa', age: 5 } },
  ],
}

test('the label of a member has the words of its name, and its language in brackets', () => {
  assert.deepEqual(['jwks_uri', 'client_name#de'].map(labelOf), ['JWKS URI', 'Client name (de)'])
})

test('what a form shows of an object is read as the object, and nothing is left of an empty form', () => {
  const texts = textsOf(fields, FULL)
  assert.deepEqual(readFields(fields, texts), FULL)
  assert.deepEqual(input.parse(readFields(fields, texts)), FULL)
  assert.deepEqual(readFields(fields, {}), { isNew: false })
  assert.deepEqual(readFields(fields, { days: 'x', keys: '{' }), { days: 'x', isNew: false, keys: '{' })
})

test('a change has what was changed alone, and what was emptied has its empty value', () => {
  const earlier = textsOf(fields, FULL)
  assert.deepEqual(readFields(fields, earlier, earlier), {})
  assert.deepEqual(readFields(fields, { ...earlier, uris: 'a:b\r\nc:d', isNew: 'on' }, earlier), {})
  const emptied = { ...earlier, name: '', days: '', uris: '', grants: '', isNew: '', 'tokens.lifetime': '' }
  assert.deepEqual(readFields(fields, emptied, earlier), {
    name: '',
    days: null,
    isNew: false,
    uris: [],
    grants: [],
    tokens: { lifetime: null },
  })
  // Texts by language are replaced together.
  assert.deepEqual(readFields(fields, { ...earlier, 'words.de': 'Sehen' }, earlier), {
    words: { en: 'Read', de: 'Sehen' },
  })
  assert.deepEqual(readFields(fields, { ...earlier, 'words.en': '', 'words.de': '' }, earlier), { words: '' })
  assert.deepEqual(textsOf(fields, { words: 'Read' }), { 'words.default': 'Read' })
  const { scopes } = readFields(fields, { ...earlier, 'scopes.0.name': '' }, earlier)
  assert.deepEqual(scopes, [{ name: 'pay', step: { level: '2fa', age: 5 } }])
})

test('a group that may be absent is removed if it was emptied alone, and what a task requires is sent as it was', () => {
  const address = z.object({ street: z.string().nullable().optional(), isHome: z.boolean().default(false) })
  const profile = z.object({ address: address.nullable().optional() }).optional()
  const own = z.object({ name: z.string(), profile })
  const both = inputFields({ input: own }, ['name', 'profile'])
  const read = (texts: Readonly<Record<string, string>>, earlier: Readonly<Record<string, string>>) =>
    readFields(both, { name: 'Ada', ...texts }, { name: 'Ada', ...earlier })
  const at = { 'profile.address.street': 'Park Lane', 'profile.address.isHome': 'false' }
  assert.deepEqual(read({}, {}), { name: 'Ada' })
  assert.deepEqual(read(at, at), { name: 'Ada' })
  assert.deepEqual(read({}, { 'profile.address.isHome': 'false' }), { name: 'Ada' })
  assert.deepEqual(read({}, at), { name: 'Ada', profile: { address: null } })
  const other = { ...at, 'profile.address.street': 'Main Street' }
  assert.deepEqual(read(other, at), { name: 'Ada', profile: { address: { street: 'Main Street' } } })
})

test('the gaps of rows are closed, a problem finds its field, and a part that the schema does not have is refused', () => {
  const closed = withoutGaps(fields, { 'scopes.1.name': '', 'scopes.3.name': 'b', 'scopes.2.name': 'a', name: 'x' })
  assert.deepEqual([closed['scopes.0.name'], closed['scopes.1.name'], closed['name']], ['a', 'b', 'x'])
  for (const [loc, path] of [
    [['name'], 'name'],
    [['uris', '1'], 'uris'],
    [['keys', 'keys', '0', 'd'], 'keys'],
    [['tokens', 'format'], 'tokens.format'],
    [['words', 'de'], 'words.de'],
    [['words'], 'words'],
    [['tokens'], 'tokens'],
    [['scopes', '1', 'step', 'age'], 'scopes.1.step.age'],
    [['other'], undefined],
  ] as const)
    assert.equal(fieldAt(fields, loc), path)
  for (const path of ['name', 'tokens.lifetime', 'scopes.12.step.level'])
    assert.equal(findField(fields, path)?.name, path.split('.').at(-1), path)
  for (const path of [
    'scopes.00.name',
    'scopes.012.name',
    'name.x',
    'tokens',
    'scopes.name',
    'scopes.x.name',
    'scopes.1234.name',
    'constructor',
    '',
  ])
    assert.equal(findField(fields, path), undefined, path)
})
