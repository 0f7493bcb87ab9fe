package wire

// Capability flags of the handshake (include/mysql_com.h).
const (
	capLongPassword     = 1 << 0
	capFoundRows        = 1 << 1
	capLongFlag         = 1 << 2
	capConnectWithDB    = 1 << 3
	capNoSchema         = 1 << 4
	capCompress         = 1 << 5
	capODBC             = 1 << 6
	capLocalFiles       = 1 << 7
	capIgnoreSpace      = 1 << 8
	capProtocol41       = 1 << 9
	capInteractive      = 1 << 10
	capSSL              = 1 << 11
	capTransactions     = 1 << 13
	capSecureConnection = 1 << 15
	capMultiStatements  = 1 << 16
	capMultiResults     = 1 << 17
	capPSMultiResults   = 1 << 18
	capPluginAuth       = 1 << 19
	capConnectAttrs     = 1 << 20
	capPluginAuthLenenc = 1 << 21
	capExpiredPasswords = 1 << 22
	capSessionTrack     = 1 << 23
	capDeprecateEOF     = 1 << 24
	capOptionalMetadata = 1 << 25
	capQueryAttributes  = 1 << 27
)

// serverCapabilities is what every greeting offers; SSL and COMPRESS depend on the configuration.
const serverCapabilities uint32 = capLongPassword | capFoundRows | capLongFlag | capConnectWithDB | capODBC |
	capLocalFiles | capIgnoreSpace | capProtocol41 | capInteractive | capTransactions | capSecureConnection |
	capMultiStatements | capMultiResults | capPSMultiResults | capPluginAuth | capConnectAttrs |
	capPluginAuthLenenc | capExpiredPasswords | capSessionTrack | capDeprecateEOF | capOptionalMetadata |
	capQueryAttributes

// Status flags of OK and EOF packets.
const (
	statusInTrans             = 1 << 0
	statusAutocommit          = 1 << 1
	statusMoreResults         = 1 << 3
	statusCursorExists        = 1 << 6
	statusLastRowSent         = 1 << 7
	statusNoBackslashEscapes  = 1 << 9
	statusInTransReadOnly     = 1 << 13
	statusSessionStateChanged = 1 << 14
)

// Commands.
const (
	comQuit            = 0x01
	comInitDB          = 0x02
	comQuery           = 0x03
	comFieldList       = 0x04
	comRefresh         = 0x07
	comShutdown        = 0x08
	comStatistics      = 0x09
	comProcessInfo     = 0x0a
	comProcessKill     = 0x0c
	comDebug           = 0x0d
	comPing            = 0x0e
	comChangeUser      = 0x11
	comStmtPrepare     = 0x16
	comStmtExecute     = 0x17
	comStmtSendLong    = 0x18
	comStmtClose       = 0x19
	comStmtReset       = 0x1a
	comSetOption       = 0x1b
	comStmtFetch       = 0x1c
	comResetConnection = 0x1f
)

// Packet headers.
const (
	headerOK          = 0x00
	headerAuthMore    = 0x01
	headerLocalInfile = 0xfb
	headerEOF         = 0xfe
	headerErr         = 0xff
	cellNull          = 0xfb
)

// Column types of the protocol.
const (
	typeDecimal    = 0
	typeTiny       = 1
	typeShort      = 2
	typeLong       = 3
	typeFloat      = 4
	typeDouble     = 5
	typeNull       = 6
	typeTimestamp  = 7
	typeLongLong   = 8
	typeInt24      = 9
	typeDate       = 10
	typeTime       = 11
	typeDatetime   = 12
	typeYear       = 13
	typeNewDate    = 14
	typeVarchar    = 15
	typeBit        = 16
	typeBool       = 244
	typeJSON       = 245
	typeNewDecimal = 246
	typeEnum       = 247
	typeSet        = 248
	typeTinyBlob   = 249
	typeMediumBlob = 250
	typeLongBlob   = 251
	typeBlob       = 252
	typeVarString  = 253
	typeString     = 254
	typeGeometry   = 255
)

// Column flags.
const (
	flagNotNull       = 1 << 0
	flagPriKey        = 1 << 1
	flagUniqueKey     = 1 << 2
	flagMultipleKey   = 1 << 3
	flagBlob          = 1 << 4
	flagUnsigned      = 1 << 5
	flagBinary        = 1 << 7
	flagEnum          = 1 << 8
	flagAutoIncrement = 1 << 9
	flagTimestamp     = 1 << 10
	flagSet           = 1 << 11
	flagPartKey       = 1 << 14
	flagNum           = 1 << 15
)

// Collation ids.
const (
	collationUTF8   = 33
	collationBinary = 63
	collationUTF8M4 = 255
)

// Limits.
const (
	// maxPayload is the greatest payload of one packet; longer ones are split.
	maxPayload = 1<<24 - 1
	// maxHandshakePacket bounds what a client may send before it is authenticated.
	maxHandshakePacket = 64 << 10
	// maxProtocolPacket is the greatest max_allowed_packet, for rows sent as well.
	maxProtocolPacket = 1 << 30
	// readStep is how much memory a packet gets ahead of its bytes.
	readStep = 256 << 10
	// queueBytes and queuePackets bound what is read ahead of the running command.
	queueBytes   = 1 << 20
	queuePackets = 64
	// writeBuffer is the size of the output buffer; it is written when it holds flushBytes.
	writeBuffer = 128 << 10
	flushBytes  = 112 << 10
	// maxPooledBuffer is the greatest buffer that is kept for other connections.
	maxPooledBuffer = 512 << 10
	// maxStatements bounds prepared statements of one connection (error 1461).
	maxStatements = 16382
	// maxParameters is MySQL's limit of parameters of a statement (error 1390).
	maxParameters = 65535
	// maxAttributes bounds query attributes of a command.
	maxAttributes = 1024
	// maxConnectAttrs bounds the bytes of connection attributes.
	maxConnectAttrs = 64 << 10
)
