import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { createGrantor } from '../../src/library/grantor.ts'
import { walkWithClient } from '../../tools/client-walk.ts'
import { EMAIL, PASSWORD } from '../../tools/flow.ts'
import { freePort } from '../../tools/free-ports.ts'
import { startProgram } from '../../tools/program.ts'
import { temporaryFolder } from '../support/server.ts'

/** `npm run prove:package` does the same with the examples for Fastify and Hono, which are not installed here. */
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
