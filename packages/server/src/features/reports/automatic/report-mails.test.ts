import type { ReportSection } from '@millrace/contract/resources/report-section.ts'
import { expect, it } from 'vitest'
import type { StoredReport } from '../report-store.ts'
import { reportMail } from './report-mails.ts'

const report = {
  id: '65f0c0ffee5ca1ab1e0dd001',
  title: 'Revenue',
  periodKey: '2026-01',
  slug: 'revenue',
  locale: 'en',
  publicationQuality: 'answered',
  supersedesId: null,
} as StoredReport

const mailWith = (text: string) => {
  const paragraphs = [{ text, figures: [] }]
  const sections = [{ id: 's', kind: 'summary', title: 'Summary', paragraphs, generationId: 'g' }]
  const publicUrl = 'https://stats.shop.example'
  return reportMail({ email: 'anna@shop.example', language: 'en' }, report, {
    sections: sections as ReportSection[],
    owner: 'owner@shop.example',
    publicUrl,
  })
}

it.each([
  'https://evil.example/login',
  'www.evil.example',
  'evil.example',
  'mailto:eve@evil.example',
  '<a href="//evil.example">here</a>',
])('makes no link of the name of a member: %s', (name) => {
  const { text, html = '' } = mailWith(`country ${name}: revenue rose from 1,000.50 to 2,000.75.`)
  for (const body of [text, html]) {
    expect(body).not.toMatch(/evil\.example|www\.evil|mailto:eve|https:\/\/evil|@evil|<a href="\/\//)
    expect(body).toContain('2,000.75')
    expect(body).toContain('https://stats.shop.example/v2/statistics/reports/65f0c0ffee5ca1ab1e0dd001')
  }
  expect(text.replaceAll('\u2060', '')).toContain(name)
})
