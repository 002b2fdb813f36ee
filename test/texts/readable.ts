const CHARACTERS: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" }

/** The title and the content of a page, a line for each block. A label that only screen readers read is in brackets. */
export function readable(html: string): string {
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
