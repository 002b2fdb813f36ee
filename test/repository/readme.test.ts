import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { DEMO_EMAIL, welcomeLines } from '../../src/cli/serve/welcome.ts'

const README = readFileSync('README.md', 'utf8')

test('the README shows what the first start prints, and both before anything that needs scrolling', () => {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { readonly version: string }
  const lines = welcomeLines(
    {
      issuer: 'http://localhost:3000',
      version,
      isLoopbackIssuer: true,
      hasApis: false,
      logsRefusals: false,
      consoleUrl: 'http://localhost:3001',
      command: 'npm run -s grantor --',
      demo: { email: DEMO_EMAIL, password: '…', clientId: 'gci_…', clientSecret: 'gcs_…' },
    },
    (_style, text) => text,
  )
  const blocks = [...README.matchAll(/^```(\w*)\n([^]*?)^```$/gm)].map(([, language = '', text = '']) => ({
    language,
    text,
  }))
  assert.deepEqual(blocks[0], { language: 'sh', text: 'npm install && npm start\n' })
  assert.deepEqual(blocks[1], { language: '', text: `${lines.join('\n').trim().replace(/^/, '  ')}\n` })
  assert.ok(README.slice(0, README.indexOf('npm install && npm start')).split('\n').length < 15)
})
