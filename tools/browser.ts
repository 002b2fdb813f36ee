import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { chromium } from 'playwright-core'
import type { Browser } from 'playwright-core'

const repository = join(import.meta.dirname, '..')
const cache = join(repository, 'node_modules', '.cache', 'grantor-chromium')

/**
 * Starts a real, headless Chromium with a new profile. The caller closes it, which removes the profile. The browser sends no
 * requests of its own to other machines, and has all protections of a user's browser.
 */
export async function launchBrowser(): Promise<Browser> {
  const folder = await inflatedChromium()
  // Playwright creates profiles in os.tmpdir() and removes each of them with its browser.
  return chromium.launch({
    executablePath: join(folder, 'chromium'),
    headless: true,
    chromiumSandbox: process.getuid?.() !== 0,
    args: [
      '--disable-gpu',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      '--no-first-run',
      '--no-default-browser-check',
    ],
    env: { ...process.env, LD_LIBRARY_PATH: libraryPath(folder), FONTCONFIG_PATH: fontPath(folder) },
  })
}

/** The configuration of the font that comes with the browser, so that it is the same on every machine. */
export async function packagedFonts(): Promise<string> {
  return join(await inflatedChromium(), 'fonts')
}

/** The folder of the unpacked browser. Each version is unpacked once, even if several processes start at the same time. */
async function inflatedChromium(): Promise<string> {
  const folder = join(cache, await packagedVersion())
  if (existsSync(join(folder, 'chromium'))) return folder
  await mkdir(cache, { recursive: true })
  // Each process unpacks into a folder of its own, and the first rename wins. So no process sees an incomplete browser.
  const draft = await mkdtemp(join(cache, 'draft-'))
  try {
    await inflateInto(draft)
    await writeFile(join(draft, 'fonts', 'fonts.conf'), fontConfiguration(folder))
    await rename(draft, folder)
  } catch (error) {
    if (!existsSync(join(folder, 'chromium'))) throw error
  } finally {
    await rm(draft, { recursive: true, force: true })
  }
  return folder
}

/**
 * Unpacks in a child process, because the package writes to os.tmpdir() and TMPDIR must change for it alone. With the name of a
 * Lambda runtime the package also unpacks the shared libraries, which a minimal container lacks.
 */
async function inflateInto(folder: string): Promise<void> {
  const program = "await (await import('@sparticuz/chromium')).default.executablePath()"
  await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', program], {
    cwd: repository,
    env: { ...process.env, TMPDIR: folder, AWS_LAMBDA_JS_RUNTIME: 'nodejs22.x' },
  })
}

async function packagedVersion(): Promise<string> {
  const manifest = join(repository, 'node_modules', '@sparticuz', 'chromium', 'package.json')
  const { version } = JSON.parse(await readFile(manifest, 'utf8')) as { readonly version: string }
  return version
}

/** The shared libraries that the browser needs and a minimal container lacks. */
function libraryPath(folder: string): string {
  const own = process.env['LD_LIBRARY_PATH']
  const unpacked = join(folder, 'al2023', 'lib')
  return own === undefined || own === '' ? unpacked : `${own}:${unpacked}`
}

/** The machine's fonts, or else the font that comes with the browser. Without a font no text has a width. */
function fontPath(folder: string): string {
  return process.env['FONTCONFIG_PATH'] ?? (existsSync('/etc/fonts/fonts.conf') ? '/etc/fonts' : join(folder, 'fonts'))
}

function fontConfiguration(folder: string): string {
  const fonts = join(folder, 'fonts')
  return `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig><dir>${fonts}</dir><cachedir>${join(fonts, 'cache')}</cachedir></fontconfig>
`
}
