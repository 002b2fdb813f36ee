import { renderMail } from '../../src/web/mail/mail.ts'
import { createRenderer } from '../../src/web/render.ts'
import { MAIL_BRANDING, MAIL_CONTENTS } from '../web/mail-samples.ts'
import { branding, samples } from '../web/samples.ts'
import { eventSentences } from './event-sentences.ts'

/** What a reader gets, rendered from samples. `npm run docs` writes these files, so a change of a sentence is a diff of them. */
export const SURFACES: Readonly<Record<string, () => string>> = {
  'test/texts/pages.txt': () => {
    const { render } = createRenderer(branding, '/pictures/')
    const pages = [...samples].map(([name, page]) => [name, readable(render(page, 'en'))] as const)
    return together(pages)
  },
  'test/texts/mails.txt': () =>
    together(
      MAIL_CONTENTS.map((content) => {
        const mail = renderMail(MAIL_BRANDING, { content, address: 'ada@acme.test', language: 'en' })
        const name = content.kind === 'notice' ? `notice ${content.notice}` : content.kind
        return [name, `Subject: ${mail.subject}\n\n${mail.text.trim()}`]
      }),
    ),
  'test/texts/events.txt': eventSentences,
}

function together(parts: readonly (readonly [name: string, text: string])[]): string {
  return parts.map(([name, text]) => `=== ${name}\n${text}\n`).join('\n')
}

const CHARACTERS: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" }

/** The title and the content of a page, a line for each block. A label that only screen readers read is in brackets. */
function readable(html: string): string {
  const [title = ''] = /<title>.*?<\/title>/s.exec(html) ?? []
  const [main = ''] = /<(?:nav|main)[ >].*<\/main>/s.exec(html) ?? []
  return `${title}<p>${main}`
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/<[^>]* aria-label="([^"]*)"[^>]*>/g, '\n[$1]\n')
    .replaceAll(
      /<\/?(?:p|div|h\d|li|ul|dl|dt|dd|form|label|button|nav|section|main|details|summary|option|title|svg)\b[^>]*>/g,
      '\n',
    )
    .replaceAll(/<[^>]*>/g, '')
    .replaceAll(/&(amp|lt|gt|quot|#39);/g, (_, name: string) => CHARACTERS[name] ?? '')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .join('\n')
}
