import { join } from 'node:path'
import { launchBrowser, packagedFonts } from '../../tools/browser.ts'
import { giveRole } from '../../tools/console-browser.ts'
import { fillConsole } from '../support/console/samples.ts'
import { openIssuer, openTab, signIn } from './tab.ts'

/** Takes the screenshots of the console for the documentation, with a real server and browser. */
export async function takeConsolePictures(after: (ending: () => unknown) => void, folder: string): Promise<void> {
  const server = await openIssuer({ after }, { GRANTOR_NAME: 'Acme Cloud' })
  await giveRole(server)
  const { user } = await fillConsole(server)
  process.env['FONTCONFIG_PATH'] = await packagedFonts()
  const browser = await launchBrowser()
  after(() => browser.close())
  const viewport = { width: 1280, height: 700 }
  const origins = [server.origin, server.adminOrigin, 'data:']
  const { tab } = await openTab({ after }, browser, origins, { viewport, deviceScaleFactor: 1 })
  await tab.goto(`${server.adminOrigin}/console/clients`)
  await signIn(tab)
  await tab.getByRole('heading', { name: 'Clients' }).waitFor()
  for (const name of ['Cursor', 'Zed']) await tab.getByRole('checkbox', { name, exact: true }).first().check()
  await tab.screenshot({ path: join(folder, 'console-clients.png') })
  await tab.goto(`${server.adminOrigin}/console/users/${user}`)
  await tab.screenshot({ path: join(folder, 'console-user.png') })
}
