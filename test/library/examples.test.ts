import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { createGrantor } from '../../src/library/grantor.ts'
import { walkWithClient } from '../../tools/client-walk.ts'
import { EMAIL, PASSWORD } from '../../tools/flow.ts'
import { freePort } from '../../tools/process/free-ports.ts'
import { startProgram } from '../../tools/process/program.ts'
import { temporaryFolder } from '../support/server.ts'
import { openGrantor, serveHost } from './host.ts'

/** `npm run prove package` does the same with the examples for Fastify and Hono, which are not installed here. */
for (const name of ['node-http', 'express']) {
  test(`the example for ${name} is walked by a released client, and ends at SIGTERM`, async (t) => {
    const port = await freePort()
    const origin = `http://localhost:${port}`
    const database = `sqlite:${join(temporaryFolder(t), 'grantor.db')}`
    const grantor = await createGrantor({ issuer: `${origin}/auth`, database })
    await grantor.tasks['user.create']({ email: EMAIL, password: PASSWORD })
    await grantor.close()
    const { stop } = await startProgram({
      command: [process.execPath, `examples/library/${name}.js`],
      folder: process.cwd(),
      environment: { PORT: String(port), DATABASE_URL: database },
      address: origin,
    })
    t.after(stop)
    await walkWithClient(`${origin}/auth`)
    assert.equal(await (await fetch(origin)).text(), 'The application.\n')
    assert.equal(await stop(), 0)
  })
}

test('the tasks of docs/library.md declare an API once, and make a user and a client that gets a token for the API', async (t) => {
  const { grantor, issuer, port } = await openGrantor(t)
  await serveHost(t, port, (request, response) => grantor.handler(request, response))
  const [, shown = ''] =
    /```js\n(const \{ tasks \} = grantor\n[^]*?)```/.exec(readFileSync('docs/library.md', 'utf8')) ?? []
  const run = async (given: object, ...body: readonly string[]): Promise<readonly string[]> => {
    const source = `export default async ({ grantor, console }) => {\n${body.join('\n')}\n}`
    const { default: start } = (await import(`data:text/javascript,${encodeURIComponent(source)}`)) as {
      default: (given: object) => Promise<void>
    }
    const printed: string[] = []
    await start({ ...given, console: { log: (...words: readonly string[]) => printed.push(...words) } })
    return printed
  }
  const [user, client_id = '', client_secret = ''] = await run({ grantor }, shown)
  await run({ grantor }, shown.slice(0, shown.indexOf('\n\n')))
  assert.match(user ?? '', /^gus_/)
  const body = new URLSearchParams({ grant_type: 'client_credentials', client_id, client_secret, scope: 'notes:read' })
  const answer = await fetch(`${issuer}/v2/oauth/token`, { method: 'POST', body })
  const { access_token = '' } = (await answer.json()) as { readonly access_token?: string }
  const claims = await grantor.verify(access_token, { resource: 'https://app.example.com/notes', scope: 'notes:read' })
  assert.equal(claims.sub, client_id)
})
