import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { createDelegateCredentials } from '../../src/admin/delegate.ts'
import { walkApplication } from '../../prove/delegate/walk.ts'
import { freePort } from '../../tools/process/free-ports.ts'
import { startProgram } from '../../tools/process/program.ts'
import { openTestServer } from '../support/server.ts'

const SAMPLES = ['express/server.js', 'fastapi/main.py', 'go/main.go'].map(
  (path) => `examples/delegated-sign-in/${path}`,
)
const PASSWORD = 'correct horse battery staple'

test('the Express program signs a person in, and answers neither a GET nor a form without its CSRF token', async (t) => {
  const port = String(await freePort())
  const page = `http://localhost:${port}/oauth/consent`
  const server = await openTestServer(t, { listen: true, env: { GRANTOR_DELEGATE_URL: page } })
  const { token } = await createDelegateCredentials(server.context, 1)
  const settings = { DELEGATE_ADMIN_URL: server.adminOrigin, DELEGATE_TOKEN: token }
  const running = await startProgram({
    command: [process.execPath, SAMPLES[0] ?? ''],
    folder: process.cwd(),
    environment: { SAMPLE_PORT: port, ADA_PASSWORD: PASSWORD, ...settings },
    address: page,
  })
  t.after(running.stop)
  const faults = await walkApplication({
    grantor: server,
    page,
    password: PASSWORD,
    async findAnswer(interaction) {
      const url = `/admin/v1/interactions/${interaction}`
      const answer = await server.injectAdmin({ method: 'GET', url, headers: { authorization: `Bearer ${token}` } })
      return answer.json<{ readonly answered: string | null }>().answered
    },
  })
  assert.deepEqual(faults, [], running.output())
})

test('each sample of delegated sign-in has at most 60 lines', () => {
  for (const path of SAMPLES) assert.ok(readFileSync(path, 'utf8').trimEnd().split('\n').length <= 60, path)
})
