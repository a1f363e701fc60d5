import { invalid } from '../../platform/invalid.ts'
import type { OperatorCommand } from './operator-command.ts'

export const createDatasourceCommand: OperatorCommand = {
  name: 'datasource create',
  summary: 'Makes a tracking datasource and prints its id, which is part of the address that events go to.',
  options: {
    name: { value: 'NAME', required: true, description: 'Name of the datasource, as users see it' },
    company: { value: 'ID', description: 'Needed only where there are several companies' },
  },
  async run(values, { accounts, createDatasource }) {
    const name = (values.get('name') ?? '').trim()
    if (name === '' || name.length > 200) throw invalid('name', 'must have 1 to 200 characters')
    const companyId = await accounts.resolveCompany(values.get('company'))
    const { id } = await createDatasource({ companyId, name })
    return { data: { id, name, companyId }, lines: [id] }
  },
}
