import { createHash } from 'node:crypto'
import type { Branding } from '../ports/pages/pages.ts'
import { consoleScript } from './browser/console.js'
import type { Assets } from './document.ts'
import { consoleStyle } from './style.ts'

/** A file that pages of the console load. Its name changes with its content, so caches keep it without end. */
export interface Asset {
  readonly contentType: string
  readonly body: string | Uint8Array
}

const FOLDER = '/console/a/'

/** The files by their path, and where pages find them. */
export function consoleAssets(branding: Branding): {
  readonly files: ReadonlyMap<string, Asset>
  readonly assets: Assets
} {
  const files = new Map<string, Asset>()
  const add = (ending: string, asset: Asset): string => {
    const hash = createHash('sha256').update(asset.body).digest('hex').slice(0, 16)
    const path = `${FOLDER}${hash}.${ending}`
    files.set(path, asset)
    return path
  }
  const script = `(${consoleScript.toString()})()`.replaceAll(/\/\*\*.*?\*\/ ?/g, '').replaceAll(/\n\s*/g, '\n')
  const { logo } = branding
  return {
    assets: {
      style: add('css', { contentType: 'text/css; charset=utf-8', body: consoleStyle(branding.accent) }),
      script: add('js', { contentType: 'text/javascript; charset=utf-8', body: script }),
      logo: logo === undefined ? undefined : add('picture', { contentType: logo.mediaType, body: logo.body }),
    },
    files,
  }
}
