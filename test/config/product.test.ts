import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readConfig } from '../../src/config/config.ts'
import { mistakesOf } from './mistakes.ts'

test('LNK-10: the address of the product uses https, and http only on this computer with an issuer that is there too', () => {
  const ACME = { GRANTOR_ISSUER: 'https://id.acme.test', GRANTOR_HOST: '127.0.0.1' }
  for (const [url, issuer, wrong] of [
    ['https://acme.test/app', ACME],
    ['http://localhost:8080/', {}],
    ['https://acme.test', {}],
    ['http://acme.test/', {}, /must use https/],
    ['http://localhost:8080/', ACME, /must use https/],
    ['https://ada:secret@acme.test/', ACME, /user or password/],
    ['javascript:alert(1)', ACME, /must be an http or https URL/],
  ] as const) {
    const given = { ...issuer, GRANTOR_PRODUCT_URL: url }
    if (wrong === undefined) assert.equal(readConfig(given).branding.productUri, url)
    else assert.match(mistakesOf(given).join(), wrong, url)
  }
})
