vim9script
# The person's settings: the variables g:outrigger_…, else the defaults. See |outrigger-settings|.

const DEFAULTS = {
  autostart: true,
  browser: '',
  command: 'outrigger',
  environment: true,
  focus: 'auto',
  folders: [],
  markers: ['.git', '.hg', '.svn', '.jj', '.outrigger.toml', '.outriggerignore'],
  max_size: 10 * 1024 * 1024,
  options: {},
}

export def Get(name: string): any
  return get(g:, 'outrigger_' .. name, DEFAULTS[name])
enddef
