import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { launchBrowser } from '../../tools/browser.ts'
import { openFolder } from '../../tools/process/session.ts'
import { serveFolder } from './serve-folder.ts'

/** The Markdown of the site's packages, which only the site installs. */
interface Markdown {
  readonly createMarkdownProcessor: (
    options: object,
  ) => Promise<{ readonly render: (text: string) => Promise<{ readonly code: string }> }>
}

const FIRST_SCREEN = { width: 1280, height: 800 }
/** About as GitHub shows a README. */
const STYLE = `body { max-width: 980px; margin: 32px auto; padding: 0 32px; font: 16px/1.5 system-ui, sans-serif; color: #1f2328 }
h1, h2 { border-bottom: 1px solid #d1d9e0; padding-bottom: .3em } img { max-width: 100% } a { color: #0969da }
pre, code { background: #f6f8fa !important; border-radius: 6px } pre { padding: 16px; overflow: auto } code { padding: .2em .4em }
pre code { padding: 0 } table { border-collapse: collapse } th, td { border: 1px solid #d1d9e0; padding: 6px 13px }`

/** Writes pictures of what a visitor sees first: `readme.png` of README.md, and `site.png` of the front page of the site. */
export async function takePictures(site: string, origin: string, folder: string): Promise<void> {
  const markdown = join(site, 'node_modules/@astrojs/markdown-remark/dist/index.js')
  const { createMarkdownProcessor } = (await import(pathToFileURL(resolve(markdown)).href)) as Markdown
  const { code } = await (
    await createMarkdownProcessor({ shikiConfig: { theme: 'github-light' } })
  ).render(readFileSync('README.md', 'utf8'))
  const pages = openFolder()
  writeFileSync(join(pages, 'index.html'), `<!doctype html><title>README</title><style>${STYLE}</style>${code}`)
  cpSync('docs/images', join(pages, 'docs/images'), { recursive: true })
  const readme = await serveFolder(pages)
  mkdirSync(folder, { recursive: true })
  const browser = await launchBrowser()
  const tab = await browser.newPage({ viewport: FIRST_SCREEN })
  for (const [name, address] of Object.entries({ readme: readme.origin, site: origin })) {
    await tab.goto(`${address}/`)
    await tab.screenshot({ path: join(folder, `${name}.png`) })
  }
  await browser.close()
  readme.close()
}
