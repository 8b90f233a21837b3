// main(argc, argv) for nvptx-none-run: adds its arguments up with newlib's atoi, prints them with its printf. The
// comments in capitals are what nvptx-none-ld reads.
// BEGIN PREAMBLE
	.version 6.0
	.target sm_35
	.address_size 64
// END PREAMBLE

// BEGIN GLOBAL FUNCTION DECL: printf
.extern .func (.param .u32 %value_out) printf (.param .u64 %in_ar0, .param .u64 %in_ar1);

// BEGIN GLOBAL FUNCTION DECL: atoi
.extern .func (.param .u32 %value_out) atoi (.param .u64 %in_ar0);

// BEGIN VAR DEF: format
.global .align 1 .b8 format[16] = {97,114,103,115,32,37,100,32,115,117,109,32,37,100,10,0};

// BEGIN GLOBAL FUNCTION DECL: main
.visible .func (.param .u32 %value_out) main (.param .u32 %in_ar0, .param .u64 %in_ar1);

// BEGIN GLOBAL FUNCTION DEF: main
.visible .func (.param .u32 %value_out) main (.param .u32 %in_ar0, .param .u64 %in_ar1)
{
	.reg .u32 %argc, %i, %sum, %v;
	.reg .u64 %argv, %p, %at, %local;
	.reg .pred %done;
	.local .align 8 .b8 %va[8];
	ld.param.u32 %argc, [%in_ar0];
	ld.param.u64 %argv, [%in_ar1];
	mov.u32 %i, 1;
	mov.u32 %sum, 0;
$more:
	setp.ge.u32 %done, %i, %argc;
	@%done bra $end;
	mul.wide.u32 %at, %i, 8;
	add.u64 %at, %at, %argv;
	ld.u64 %p, [%at];
	{
		.param .u64 %a;
		.param .u32 %r;
		st.param.u64 [%a], %p;
		call (%r), atoi, (%a);
		ld.param.u32 %v, [%r];
	}
	add.u32 %sum, %sum, %v;
	add.u32 %i, %i, 1;
	bra $more;
$end:
	mov.u64 %local, %va;
	cvta.local.u64 %local, %local;
	st.u32 [%local], %argc;
	st.u32 [%local+4], %sum;
	cvta.global.u64 %p, format;
	{
		.param .u64 %a;
		.param .u64 %b;
		.param .u32 %r;
		st.param.u64 [%a], %p;
		st.param.u64 [%b], %local;
		call (%r), printf, (%a, %b);
	}
	st.param.u32 [%value_out], %sum;
	ret;
}
