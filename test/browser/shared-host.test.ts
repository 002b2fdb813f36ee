import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { cpSync, mkdirSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import type { Page as Tab } from 'playwright-core'
import { freePort } from '../../tools/process/free-ports.ts'
import { createAda } from '../support/accounts.ts'
import { WHOLE_FILE } from '../support/authorize-answers.ts'
import { sharedBrowser } from '../support/browser.ts'
import { runHere } from '../support/command.ts'
import { openTestServer, temporaryFolder, type TestServer, type TestServerOptions } from '../support/server.ts'
import { NO_AUTOFILL, plugIn, type KeptPasskey } from './authenticator.ts'
import { openTab, press, signIn } from './tab.ts'
import { sentence } from '../texts/page-texts.ts'

/** The RP id is the host alone, so all programs of a host share the passkeys of a browser (threats.md PK-11). */

const browser = await sharedBrowser()

type Listening = Pick<TestServer, 'origin'>

/** Opens a tab whose authenticator has these passkeys */
async function openWith(
  t: Pick<TestContext, 'after'>,
  issuers: readonly Listening[],
  passkeys: readonly KeptPasskey[],
) {
  const { tab, complaints } = await openTab(
    t,
    browser,
    issuers.map(({ origin }) => new URL(origin).origin),
    {},
  )
  await tab.addInitScript(NO_AUTOFILL)
  return { tab, complaints, list: await plugIn(tab, { passkeys }) }
}

/** The passkeys that an authenticator has after all that the page asked for: the browser carries out one request after the other. */
async function idsIn(tab: Tab, list: () => Promise<readonly KeptPasskey[]>): Promise<readonly string[]> {
  await tab.waitForLoadState()
  await tab.evaluate(`PublicKeyCredential.signalUnknownCredential({ rpId: 'localhost', credentialId: 'AAAA' })`)
  return (await list()).map(({ credentialId }) => credentialId)
}

/** Ada adds a passkey at a server. Returns it as her authenticator has it. */
async function addPasskey(t: Pick<TestContext, 'after'>, server: Listening): Promise<KeptPasskey> {
  const { tab, list } = await openWith(t, [server], [])
  await tab.goto(`${server.origin}/account/security`)
  await signIn(tab)
  await tab.goto(`${server.origin}/account/security/add-passkey`)
  await press(tab, 'Add a passkey')
  await tab.getByRole('status').waitFor()
  const [passkey] = await list()
  await tab.context().close()
  return passkey ?? assert.fail()
}

/**
 * Ada signs in by the passkey, looks at her sign-in methods, and removes the passkey. Returns what her authenticator then has, and another
 * one with a newer passkey, which the store does not know.
 */
async function removePasskey(t: TestContext, server: Listening, passkey: KeptPasskey, newer: KeptPasskey) {
  const { tab, complaints, list } = await openWith(t, [server], [passkey])
  await tab.goto(`${server.origin}/account/security`)
  await press(tab, sentence('passkeySignIn'))
  await tab.getByRole('heading', { name: 'Passkeys' }).waitFor()
  const listNewer = await plugIn(tab, { transport: 'usb', passkeys: [newer] })
  await tab.reload()
  await tab.getByRole('link', { name: /^Remove .* on / }).click()
  await press(tab, 'Remove')
  await tab.getByText(sentence('account.notices.passkey-removed')).waitFor()
  assert.deepEqual(complaints, [])
  return [...(await idsIn(tab, list)), ...(await idsIn(tab, listNewer))]
}

/** Two issuers of one host, each with Ada's account. */
const TWO: Readonly<Record<string, (t: TestContext) => Promise<readonly [TestServer, TestServer]>>> = {
  async port(t) {
    return [await openTestServer(t, { listen: true }), await openTestServer(t, { listen: true })]
  },
  async path(t) {
    const port = await freePort()
    const open = (path: string) =>
      openTestServer(t, { env: { PORT: String(port), GRANTOR_ISSUER: `http://localhost:${port}/${path}` } })
    const servers = [await open('one'), await open('two')] as const
    const proxy = createServer((message, response) => {
      const server = servers[message.url?.startsWith('/one') === true ? 0 : 1]
      server.http.emit('request', message, response)
    })
    await new Promise<void>((resolve) => void proxy.listen(port, 'localhost', resolve))
    t.after(() => (proxy.closeAllConnections(), proxy.close()))
    return servers
  },
}

for (const [differing, open] of Object.entries(TWO))
  test(`PK-11: the passkey of another issuer of the host, with another ${differing}, does not sign in, and the browser keeps it`, async (t) => {
    const [here, there] = await open(t)
    await createAda(here)
    await createAda(there)
    const passkey = await addPasskey(t, there)
    const { tab, complaints, list } = await openWith(t, [here, there], [passkey])
    await tab.goto(`${here.origin}/account/security`)
    await press(tab, sentence('passkeySignIn'))
    await tab.getByText('This passkey belongs to no account here.').waitFor()
    await tab.goto(`${here.origin}/account/security`)
    await signIn(tab)
    await tab.getByRole('heading', { name: 'Passkeys' }).waitFor()
    assert.deepEqual(await idsIn(tab, list), [passkey.credentialId])
    await tab.goto(`${there.origin}/account/security`)
    await press(tab, sentence('passkeySignIn'))
    await tab.getByRole('heading', { name: 'Passkeys' }).waitFor()
    assert.deepEqual(complaints, [])
  })

/** A server that Ada has a passkey at. Each test has a copy of its folder. */
const original = await openTestServer(WHOLE_FILE, { listen: true })
await createAda(original)
const known = await addPasskey(WHOLE_FILE, original)
await original.close()
const { port: PORT } = new URL(original.origin)

/** What becomes of the store before it is opened, and whether its server may speak for the browser's passkeys. */
const HISTORIES: Readonly<Record<string, readonly [isOwn: boolean, change: (folder: string) => Promise<Opened>]>> = {
  'the same store': [true, async (folder) => ({ folder, env: { PORT } })],
  'a copy of the whole folder at another port': [false, async (folder) => ({ folder })],
  'a store without its state file': [
    false,
    async (folder) => {
      rmSync(join(folder, 'grantor.db.state'))
      return { folder, env: { PORT } }
    },
  ],
  'a restored backup': [
    false,
    async (folder) => {
      const backup = join(folder, 'one.backup')
      await runAt(folder, ['backup', '--to', backup])
      await runAt(folder, ['restore', '--from', backup, '--replace'])
      return { folder, env: { PORT } }
    },
  ],
  'an imported store': [
    false,
    async (folder) => {
      const [moved, to] = [join(folder, 'moved.export'), join(folder, 'to')]
      await runAt(folder, ['export', '--final', '--to', moved])
      mkdirSync(to)
      cpSync(join(folder, 'grantor.secret'), join(to, 'grantor.secret'))
      await runAt(to, ['import', 'grantor', moved])
      return { folder: to, env: { PORT } }
    },
  ],
}

type Opened = Pick<TestServerOptions, 'folder' | 'env'>

for (const [name, [isOwn, change]] of Object.entries(HISTORIES))
  test(`PK-11: a passkey that its user removes at ${name} is ${isOwn ? 'forgotten' : 'kept'} by the browser`, async (t) => {
    const folder = temporaryFolder(t)
    cpSync(original.folder, folder, { recursive: true })
    const server = await openTestServer(t, { listen: true, ...(await change(folder)) })
    const newer = { ...known, credentialId: randomBytes(32).toString('base64') }
    const kept = await removePasskey(t, server, known, newer)
    assert.deepEqual(kept, isOwn ? [newer.credentialId] : [known.credentialId, newer.credentialId])
  })

async function runAt(folder: string, words: readonly string[]): Promise<void> {
  const environment = { PORT, DATABASE_URL: `sqlite:${join(folder, 'grantor.db')}` }
  const { code, stderr } = await runHere({ environment }, words)
  assert.equal(code, 0, stderr)
}
