import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { openAppRedirects } from '../../../src/protocol/uri/app-redirect.ts'
import { DEVICE_CODE, OFFERED_GRANT_TYPES } from '../../../src/protocol/token/grant-types.ts'
import type { ClientMetadata } from '../../../src/protocol/client/members.ts'
import { readRegistration, type RegistrationPolicy } from '../../../src/protocol/client/metadata.ts'

const POLICY: RegistrationPolicy = {
  apps: openAppRedirects(['cursor']),
  own: new URL('https://auth.example'),
  declaresScope: (token) => ['read', 'write'].includes(token),
  grantTypes: OFFERED_GRANT_TYPES,
  outbound: undefined,
  mayBeNotifiedAt: () => true,
}
const LISTS = ['redirect_uris', 'grant_types', 'response_types', 'contacts']
const TEXTS = [
  'token_endpoint_auth_method',
  'client_name',
  'client_uri',
  'logo_uri',
  'scope',
  'tos_uri',
  'policy_uri',
  'software_id',
  'software_version',
]

function accept(body: unknown): ClientMetadata {
  const reading = readRegistration(body, POLICY, JSON.stringify(body)?.length)
  assert.equal(reading.kind, 'accepted', JSON.stringify(reading))
  return reading.metadata
}

function refuse(body: unknown, kind: 'malformed' | 'not-allowed'): readonly string[] {
  const reading = readRegistration(body, POLICY, JSON.stringify(body)?.length)
  assert.equal(reading.kind, kind, JSON.stringify(reading))
  return reading.problems.map(({ loc, type }) => `${loc.join('.')}:${type}`)
}

test('The spec: {} is accepted with the four defaults', () => {
  assert.deepEqual(accept({}), {
    redirect_uris: [],
    token_endpoint_auth_method: 'client_secret_post',
    grant_types: ['authorization_code'],
    response_types: ['code'],
  })
})

test('decision 0005: null and the empty string mean the default of a defaulted field', () => {
  const nulls = { redirect_uris: null, token_endpoint_auth_method: null, grant_types: null, response_types: null }
  const reading = readRegistration(nulls, POLICY, undefined)
  assert.deepEqual(reading, { kind: 'accepted', metadata: accept({}), nulls: [] })
  assert.equal(accept({ token_endpoint_auth_method: '' }).token_endpoint_auth_method, 'client_secret_post')
})

test('decision 0005: only a field that the spec types "or null" is remembered as null', () => {
  const every = [...LISTS, ...TEXTS]
  const reading = readRegistration(Object.fromEntries(every.map((field) => [field, null])), POLICY, undefined)
  assert.equal(reading.kind, 'accepted')
  const expected = ['scope', 'client_name', 'client_uri', 'logo_uri', 'tos_uri', 'policy_uri']
  assert.deepEqual(reading.nulls, [...expected, 'software_id', 'software_version', 'contacts'])
})

test('decision 0005: one response names every field of the wrong type', () => {
  for (const wrong of [7, true, {}]) {
    const body = Object.fromEntries([...LISTS, ...TEXTS].map((field) => [field, wrong]))
    const expected = [
      ...LISTS.map((field) => `body.${field}:list_type`),
      ...TEXTS.map((field) => `body.${field}:string_type`),
    ]
    assert.deepEqual(refuse(body, 'malformed').toSorted(), expected.toSorted())
  }
  assert.deepEqual(refuse({ client_name: [] }, 'malformed'), ['body.client_name:string_type'])
  assert.deepEqual(refuse({ contacts: 'a@b.test' }, 'malformed'), ['body.contacts:list_type'])
})

test('decision 0005: an entry of the wrong type is named by its position', () => {
  const body = { redirect_uris: ['https://a.test/', 5, null], contacts: ['a@b.test', {}] }
  const expected = [
    'body.contacts.1:string_type',
    'body.redirect_uris.1:string_type',
    'body.redirect_uris.2:string_type',
  ]
  assert.deepEqual(refuse(body, 'malformed').toSorted(), expected)
})

test('decision 0005: a body that is not an object is refused as a whole', () => {
  for (const body of [null, [], 'x', 5, true]) assert.deepEqual(refuse(body, 'malformed'), ['body:object_type'])
})

test('decision 0005: one response has the faults of type and those of policy', () => {
  const body = {
    client_name: 5,
    redirect_uris: ['javascript:alert(1)', 7, 'https://a.test/#x'],
    token_endpoint_auth_method: 'tls_client_auth',
    logo_uri: 'data:x',
    scope: 'a"b',
  }
  assert.deepEqual(refuse(body, 'malformed').toSorted(), [
    'body.client_name:string_type',
    'body.logo_uri:url_scheme',
    'body.redirect_uris.0:value_error',
    'body.redirect_uris.1:string_type',
    'body.redirect_uris.2:value_error',
    'body.scope:value_error',
    'body.token_endpoint_auth_method:literal_error',
  ])
})

test('decision 0005: unsupported grant types and response types are dropped, and the others keep their order', () => {
  const table = [
    [{ grant_types: ['refresh_token', 'authorization_code'] }, ['refresh_token', 'authorization_code'], ['code']],
    [{ grant_types: ['authorization_code', 'password', 'implicit'] }, ['authorization_code'], ['code']],
    [{ grant_types: ['client_credentials', 'client_credentials'] }, ['client_credentials'], ['code']],
    [{ grant_types: ['client_credentials'], response_types: [] }, ['client_credentials'], []],
    [{ grant_types: ['client_credentials'], response_types: ['code'] }, ['client_credentials'], []],
    [{ grant_types: ['authorization_code'], response_types: ['code', 'token'] }, ['authorization_code'], ['code']],
    [
      { grant_types: ['authorization_code', 'client_credentials'], response_types: ['token'] },
      ['client_credentials'],
      [],
    ],
    [{ grant_types: ['client_credentials', 'refresh_token'] }, ['client_credentials'], ['code']],
    [{ response_types: ['code', 'id_token'] }, ['authorization_code'], ['code']],
  ] as const
  for (const [body, grantTypes, responseTypes] of table) {
    const metadata = accept(body)
    assert.deepEqual(metadata.grant_types, grantTypes, JSON.stringify(body))
    assert.deepEqual(metadata.response_types, responseTypes, JSON.stringify(body))
  }
})

test('REG-12: a registration without a supported grant type is refused', () => {
  const grants = ['body.grant_types:literal_error']
  const responses = ['body.response_types:literal_error']
  for (const grant_types of [
    [],
    ['password'],
    ['implicit'],
    ['refresh_token'],
    ['urn:x'],
    ['AUTHORIZATION_CODE'],
    [''],
  ])
    assert.deepEqual(refuse({ grant_types }, 'not-allowed'), grants)
  for (const response_types of [[], ['token'], ['id_token'], ['code token'], ['Code']])
    assert.deepEqual(refuse({ response_types }, 'not-allowed'), responses)
  assert.deepEqual(refuse({ grant_types: ['authorization_code'], response_types: ['token'] }, 'not-allowed'), grants)
})

test('RFC 6749 §4.4: client_credentials is dropped for a public client', () => {
  const token_endpoint_auth_method = 'none'
  const kept = accept({ token_endpoint_auth_method, grant_types: ['client_credentials', 'authorization_code'] })
  assert.deepEqual(kept.grant_types, ['authorization_code'])
  const alone = { token_endpoint_auth_method, grant_types: ['client_credentials'] }
  assert.deepEqual(refuse(alone, 'not-allowed'), ['body.grant_types:literal_error'])
})

test('decision 0005: accepted grant types and response types are consistent for any lists in the request', () => {
  const names = fc.constantFrom(...OFFERED_GRANT_TYPES, 'implicit', 'password', '', 'code')
  const lists = fc.option(fc.array(names, { maxLength: 5 }), { nil: undefined })
  const responses = fc.option(fc.array(fc.constantFrom('code', 'token', ''), { maxLength: 3 }), { nil: undefined })
  const methods = fc.constantFrom(undefined, 'none', 'client_secret_basic')
  const property = fc.property(lists, responses, methods, (grant_types, response_types, token_endpoint_auth_method) => {
    const reading = readRegistration({ grant_types, response_types, token_endpoint_auth_method }, POLICY, undefined)
    if (reading.kind !== 'accepted') return
    const { grant_types: grantTypes, response_types: responseTypes } = reading.metadata
    const asked = grant_types ?? ['authorization_code']
    assert.ok(grantTypes.length > 0 && grantTypes.every((grant) => asked.includes(grant)))
    assert.equal(new Set(grantTypes).size, grantTypes.length)
    if (response_types !== undefined)
      assert.equal(responseTypes.includes('code'), grantTypes.includes('authorization_code'))
    if (grantTypes.includes('refresh_token'))
      assert.ok(grantTypes.includes('authorization_code') || grantTypes.includes(DEVICE_CODE))
    if (token_endpoint_auth_method === 'none') assert.ok(!grantTypes.includes('client_credentials'))
  })
  fc.assert(property, { numRuns: 1000 })
})

test('REG-11: undeclared scopes are dropped, and a request without a scope differs from one whose scopes are all dropped', () => {
  assert.equal(accept({ scope: 'read admin * write read' }).scope, 'read write')
  assert.equal(accept({ scope: 'admin' }).scope, '')
  assert.equal(accept({ scope: '' }).scope, undefined)
  for (const scope of ['a"b', 'a\\b', 'a\tb', 'a\u0000', 'ä', 'r '.repeat(251)])
    assert.deepEqual(refuse({ scope }, 'not-allowed'), ['body.scope:value_error'])
})

test('REG-15: descriptive URIs must use https, or http on loopback', () => {
  for (const field of ['client_uri', 'logo_uri', 'tos_uri', 'policy_uri']) {
    for (const uri of ['https://a.test', 'https://a.test/x?y#z', 'http://localhost:3000/x', 'http://127.0.0.1/'])
      assert.deepEqual(accept({ [field]: uri }), { ...accept({}), [field]: uri })
    for (const uri of ['javascript:alert(1)', 'JAVASCRIPT:x', 'data:text/html,x', 'http://a.test/', 'ftp://a.test/'])
      assert.deepEqual(refuse({ [field]: uri }, 'not-allowed'), [`body.${field}:url_scheme`])
    for (const uri of [
      'a.test',
      '/x',
      'https://',
      ' https://a.test',
      'https://a.test/\n',
      'https:\\\\a.test',
      '\tjavascript:x',
    ])
      assert.deepEqual(refuse({ [field]: uri }, 'not-allowed'), [`body.${field}:url_parsing`], uri)
    assert.deepEqual(refuse({ [field]: 'https://u@a.test/' }, 'not-allowed'), [`body.${field}:value_error`])
    const long = `https://a.test/${'x'.repeat(2034)}`
    assert.deepEqual(refuse({ [field]: long }, 'not-allowed'), [`body.${field}:too_long`])
    assert.deepEqual(accept({ [field]: '' }), accept({}))
  }
})

test('REG-09: texts have a length limit in characters and must not contain control characters', () => {
  for (const [field, limit] of Object.entries({ client_name: 128, software_id: 256, software_version: 128 })) {
    assert.deepEqual(accept({ [field]: '😀'.repeat(limit) }), { ...accept({}), [field]: '😀'.repeat(limit) })
    assert.deepEqual(refuse({ [field]: 'x'.repeat(limit + 1) }, 'not-allowed'), [`body.${field}:too_long`])
    for (const bad of ['a\u0000b', 'a\nb', 'a\u001b[31m', 'a\u2028b', 'a\ud800'])
      assert.deepEqual(refuse({ [field]: bad }, 'not-allowed'), [`body.${field}:value_error`])
  }
})

test('RFC 7591 §2.2: names in the languages of the pages are kept, and others ignored', () => {
  const names = {
    client_name: 'Board',
    'client_name#de': 'Tafel',
    'client_name#en': 'Board!',
    'client_name#fr': 'Tableau',
  }
  assert.deepEqual(accept({ ...names, 'client_name#xx': 'Tableau', 'client_name#DE': 'x', 'tos_uri#de': 'x' }), {
    ...accept({}),
    ...names,
  })
  assert.deepEqual(accept({ 'client_name#de': '' }), accept({}))
  for (const [bad, type] of [
    ['x'.repeat(129), 'too_long'],
    ['a\nb', 'value_error'],
  ] as const)
    assert.deepEqual(refuse({ 'client_name#de': bad }, 'not-allowed'), [`body.client_name#de:${type}`])
  assert.deepEqual(refuse({ 'client_name#de': 5 }, 'malformed'), ['body.client_name#de:string_type'])
})

test('REG-09: lists may have at most ten entries', () => {
  const uris = Array.from({ length: 11 }, (_, index) => `https://a.test/${index}`)
  assert.equal(accept({ redirect_uris: uris.slice(0, 10) }).redirect_uris.length, 10)
  assert.deepEqual(refuse({ redirect_uris: uris }, 'not-allowed'), ['body.redirect_uris:too_many'])
  const contacts = Array.from({ length: 11 }, (_, index) => `c${index}@a.test`)
  assert.deepEqual(accept({ contacts: contacts.slice(1) }).contacts, contacts.slice(1))
  assert.deepEqual(refuse({ contacts }, 'not-allowed'), ['body.contacts:too_many'])
})

test('RFC 7591 §2: contacts must be email addresses', () => {
  for (const contact of ['', 'x', 'a@', '@b', 'a@b@c', 'a b@c.test', 'a@c.test\n', `${'x'.repeat(250)}@a.test`])
    assert.deepEqual(refuse({ contacts: ['ok@a.test', contact] }, 'not-allowed'), ['body.contacts.1:value_error'])
})

test('REG-07: a URI with an unusable scheme is kept together with a usable one, and refused without one', () => {
  const mixed = ['zed://x', 'https://a.test/cb', 'http://127.0.0.1:1/cb']
  assert.deepEqual(accept({ redirect_uris: mixed }).redirect_uris, mixed)
  assert.deepEqual(refuse({ redirect_uris: ['zed://x'] }, 'not-allowed'), ['body.redirect_uris:url_scheme'])
  const reading = readRegistration({ redirect_uris: ['zed://x'] }, POLICY, undefined)
  const [fault] = 'problems' in reading ? reading.problems : []
  assert.match(fault?.msg ?? '', /GRANTOR_REDIRECT_SCHEMES of the server allows \(sent: zed\)/)
})

test('FLOOD-02: the metadata of a client has at most 8 KiB in all', () => {
  const uris = (count: number): object => ({
    redirect_uris: Array.from({ length: count }, (_, index) => `https://a.test/${index}/${'x'.repeat(1000)}`),
  })
  assert.equal(accept(uris(7)).redirect_uris.length, 7)
  assert.deepEqual(refuse(uris(9), 'not-allowed'), ['body:too_long'])
  const sentence = { ...uris(7), client_name: '\u{1f600}'.repeat(128), software_id: '\u{1f600}'.repeat(256) }
  assert.deepEqual(refuse(sentence, 'not-allowed'), ['body:too_long'], 'Bytes, not characters.')
})

test('FLOOD-02: a registration that is too short for its bytes to be counted is far below the limit', () => {
  const body = {
    contacts: Array.from({ length: 8 }, () => `${'\u20ac'.repeat(232)}@\u20ac`),
    default_max_age: 1_000_000_000,
    id_token_signed_response_alg: '',
    require_auth_time: false,
    dpop_bound_access_tokens: true,
  }
  const sentLength = JSON.stringify(body).length
  assert.ok(sentLength > 2000 && sentLength <= 2048, `${sentLength} characters`)
  assert.ok(Buffer.byteLength(JSON.stringify(accept(body))) < 6144)
})

test('REG-10: members that the specification does not define are ignored', () => {
  const extra = { client_id: 'x', trusted: true, require_pkce: false, created_by: 'me', toString: 'x', valueOf: 1 }
  assert.deepEqual(accept(extra), accept({}))
})

test('decision 0005: for any JSON, a refusal has problems, each with a path below body', () => {
  const fields = fc.constantFrom(...LISTS, ...TEXTS, 'other')
  const property = fc.property(fc.dictionary(fields, fc.jsonValue({ maxDepth: 2 })), (body) => {
    const reading = readRegistration(body, POLICY, undefined)
    if (reading.kind === 'accepted') return
    assert.ok(reading.problems.length > 0)
    for (const { loc, ctx } of reading.problems) assert.ok(loc[0] === 'body' && typeof ctx === 'object')
  })
  fc.assert(property, { numRuns: 1000 })
})
