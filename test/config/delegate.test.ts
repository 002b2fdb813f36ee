import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readConfig } from '../../src/config/config.ts'
import { mistakesOf } from './mistakes.ts'

const URL = 'http://localhost:4000/consent?a=1'

test('with GRANTOR_DELEGATE_URL the other settings of delegated sign-in have their effect, and passwords cannot be on', () => {
  const signOutUrl = 'https://app.acme.test/bye'
  const chosen = {
    GRANTOR_DELEGATE_URL: URL,
    GRANTOR_DELEGATE: 'sign-in',
    GRANTOR_DELEGATE_SIGN_OUT_URL: signOutUrl,
  }
  assert.deepEqual(readConfig(chosen).settings.delegate, { url: URL, signOutUrl, mode: 'sign-in' })
  assert.match(mistakesOf({ ...chosen, GRANTOR_PASSWORDS: 'on' }).join(), /GRANTOR_PASSWORDS must not be on/)
  assert.match(mistakesOf({ ...chosen, GRANTOR_SECOND_FACTOR: 'required' }).join(), /GRANTOR_SECOND_FACTOR must not be/)
  assert.match(mistakesOf({ GRANTOR_DELEGATE_SIGN_OUT_URL: signOutUrl }).join(), /needs GRANTOR_DELEGATE_URL/)
})

test('the addresses of the application use https or a loopback address, without credentials and fragments', () => {
  for (const wrong of ['app', 'ftp://app.test/', 'http://app.test/', 'https://a:b@app.test/', 'https://app.test/#a']) {
    for (const name of ['GRANTOR_DELEGATE_URL', 'GRANTOR_DELEGATE_SIGN_OUT_URL']) {
      const mistakes = mistakesOf({ GRANTOR_DELEGATE_URL: URL, [name]: wrong })
      assert.deepEqual([mistakes.length, mistakes[0]?.startsWith(name)], [1, true], `${wrong}: ${mistakes.join()}`)
    }
  }
})
