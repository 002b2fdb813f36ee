import { mkdirSync } from 'node:fs'
import { launchBrowser } from '../../tools/browser.ts'
import { names, readOptions, string } from '../../tools/options.ts'
import { beginSession, openFolder } from '../../tools/process/session.ts'
import { openFindings, printReport } from '../findings.ts'
import { proveKubernetes } from './kubernetes.ts'
import { proveOauth2Proxy } from './oauth2-proxy.ts'
import { openStage } from './stage.ts'
import { proveJupyterhub, proveOpenWebui, proveSuperset } from './web-apps.ts'

/** Released applications that read groups: a user gets in with a group, and is out after the removal. See docs/proofs.md. */

const CONSUMERS = {
  'oauth2-proxy': proveOauth2Proxy,
  kubernetes: proveKubernetes,
  jupyterhub: proveJupyterhub,
  'open-webui': proveOpenWebui,
  superset: proveSuperset,
} as const

const { only, folder: kept } = readOptions({
  only: names('the applications', ['oauth2-proxy', 'kubernetes', 'jupyterhub', 'open-webui', 'superset'], 'all'),
  folder: string('folder', 'keep the installed programs in this folder, and use those that it has'),
})

beginSession()
const findings = openFindings()
const folder = kept ?? openFolder()
mkdirSync(folder, { recursive: true })
const browser = await launchBrowser()
const lines: string[] = []
for (const name of only) {
  findings.progress(name)
  const stage = await openStage({ folder, browser, report: findings.report })
  try {
    lines.push(await CONSUMERS[name](stage))
  } catch (cause) {
    findings.report(`${name}: ${String(cause)}`)
  }
  await stage.grantor.close()
}
await browser.close()
printReport(only.join(', '), lines, findings)
